# SPDX-License-Identifier: Apache-2.0
"""Series: training on windows of a table, forecasts as CSV, evaluation, and their errors."""
import csv
import datetime
import io
import json
import math
import random
import unittest

import guide_pages  # first: it reads LINNET_DATA, which command takes away
import command


def write_sales(path, days=150, future=0, shops=("north", "south, inner")):
    """A week's rhythm and more on holidays, two shops; `future` days hold the holidays alone."""
    rng = random.Random(1)
    lines = ["day;shop;holiday;sales;guests"]
    for i in range(days + future):
        holiday = rng.random() < 0.2
        for k, shop in enumerate(shops):
            sales = 100 - 60 * k + 10 * math.cos(2 * math.pi * i / 7) + 20 * holiday
            values = f"{sales:.4f};{sales / 2:.4f}" if i < days else ";"
            day = datetime.date(2024, 1, 1) + datetime.timedelta(days=i)
            lines.append(f"{day:%d.%m.%Y};{shop};{'yes' if holiday else 'no'};{values}")
    path.write_text("\n".join(lines) + "\n")


class Series(command.CommandTest):
    ARGUMENTS = ("sales.csv", "--target", "sales", "--time", "day", "--entity", "shop", "--known", "holiday",
                 "--past", 14, "--future", 3, "--season", 7, "--device", "cpu", "--threads", 1)

    def test_forecasts_beside_simple_ones(self):
        write_sales(self.folder / "sales.csv")
        summary = self.run_json("train", *self.ARGUMENTS, "--epochs", 30, "--out", "run")
        target = summary["series"]["targets"][0]
        self.assertEqual(target["target"], "sales")
        self.assertEqual(len(target["model"]["mae_by_step"]), 3)
        self.assertLess(target["model"]["mae"], 0.8 * target["seasonal_naive"]["mae"])
        self.assertLess(target["model"]["mae"], 0.8 * target["persistence"]["mae"])
        page = (self.folder / "run/report.html").read_text()
        for text in ("Forecasts of sales", "seasonal naive", "<polyline", "Errors of sales"):
            self.assertIn(text, page)
        self.assertEqual(json.loads((self.folder / "run/metrics.json").read_text()), summary["series"])
        self.assertRegex(summary["verdict"], r"^the forecasts of 'sales' miss by [\d.]+ on average \(\d+ test windows\), "
                                             r"the (last value|value of a season ago) by [\d.]+$")
        self.assertIn('<p class="verdict">The forecasts of &#39;sales&#39; miss by ', page)
        self.assertIn("<td>the value of a season ago</td>", page)

        write_sales(self.folder / "new.csv", days=40, future=3)
        out, _ = self.run_linnet("predict", "run", "new.csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([row["shop"] for row in rows], ["north"] * 3 + ["south, inner"] * 3)
        self.assertEqual([row["day"] for row in rows[:3]], ["10.02.2024", "11.02.2024", "12.02.2024"])
        self.assertTrue(all(70 < float(row["sales"]) < 150 for row in rows[:3]), out)
        self.run_linnet("predict", "run", "new.csv", "-o", "forecast.csv")
        self.assertEqual((self.folder / "forecast.csv").read_text(), out)
        forecast = self.run_json("predict", "run", "new.csv")["forecast"]
        self.assertAlmostEqual(forecast[4]["values"]["sales"], float(rows[4]["sales"]), places=3)
        out, err = self.run_linnet("evaluate", "run", "--data", "sales.csv")
        self.assertIn("all forecasts of 'sales': 268 windows of 3 steps", out)
        self.assertRegex(err, r"warning: about [67]\d % of these samples were in the training set of the model")
        self.assertNotIn("was in", (self.folder / "run/summary.json").read_text())  # nor are its own parts
        scores = self.run_json("evaluate", "run/model.safetensors", "--data", "sales.csv")["series"]
        self.assertEqual(scores["windows"], 268)

    def test_a_configuration_gives_the_same_model(self):
        write_sales(self.folder / "sales.csv", days=60)
        (self.folder / "sales.toml").write_text(
            '[data]\nfile = "sales.csv"\ntarget = ["sales", "guests"]\ntime = "day"\nentity = "shop"\n'
            'known = "holiday"\npast = 7\nfuture = 2\nnetwork = "mlp"\n[training]\nepochs = 3\n')
        options = ("--device", "cpu", "--threads", 1)
        self.run_linnet("train", "sales.toml", *options, "--out", "toml")
        self.run_linnet("train", "sales.csv", "--target", "sales", "--target", "guests", "--time", "day", "--entity",
                        "shop", "--known", "holiday", "--past", 7, "--future", 2, "--network", "mlp", "--epochs", 3,
                        *options, "--out", "arguments")
        models = [(self.folder / run / "model.safetensors").read_bytes() for run in ("toml", "arguments")]
        self.assertEqual(*models)
        text = (self.folder / "sales.toml").read_text()
        for change, sentence in ((("past = 7", "past = -7"), "'past' in [data] must be in [1, 1048576]; got -7"),
                                 (("known = ", "nown = "), "did you mean 'known'?"),
                                 (('"mlp"', '"mpl"'), "did you mean 'mlp'?")):
            (self.folder / "bad.toml").write_text(text.replace(*change))
            _, err = self.run_linnet("train", "bad.toml", status=2)
            self.assertIn(sentence, err)

    def test_steps_unlike_the_training_are_said(self):
        write_sales(self.folder / "sales.csv")
        self.run_linnet("train", *self.ARGUMENTS, "--epochs", 1, "--out", "run")
        write_sales(self.folder / "new.csv", days=40, future=3)
        self.assertEqual(self.run_linnet("predict", "run", "new.csv")[1], "")
        self.assertNotIn("notes", self.run_json("predict", "run", "new.csv"))
        late = (self.folder / "new.csv").read_text().replace(".2024;", ".2031;")
        lines = late.splitlines()
        lines[75] = lines[75].split(";no;")[0].split(";yes;")[0] + ";no;-900.5;3"
        (self.folder / "late.csv").write_text("\n".join(lines) + "\n")
        notes = self.run_json("predict", "run", "late.csv")["notes"]
        self.assertRegex(notes[0], "1 value of 'late.csv' in column 'sales' is outside the training's range, "
                                   r"[\d.]+ to [\d.]+, such as -900.5")
        self.assertRegex(notes[-1], "the last step of 'late.csv', series 'north', is 09.02.2031, far from the "
                                    "training's times, 01.01.2024 to 29.05.2024")
        self.assertIn(notes[0], self.run_linnet("predict", "run", "late.csv")[1])

    def test_one_step_is_singular(self):
        write_sales(self.folder / "sales.csv", days=60)
        _, err = self.run_linnet("train", "sales.csv", "--target", "sales", "--time", "day", "--entity", "shop", "--past",
                                 7, "--epochs", 1, "--out", "run")
        self.assertIn("for the next 1 step of 1 day from the last 7;", err)
        self.assertIn(" windows of 1 step\n", err)

    def test_what_is_refused(self):
        write_sales(self.folder / "sales.csv", days=40)
        for sentence, *arguments in (
                ("--future is for windows of a series (--past); 'sales.csv' is a table: leave it out", "sales.csv", "--target", "sales", "--future", 3),
                ("--split is for tables; 'sales.csv' is read as windows of a series (--past): leave it out", *self.ARGUMENTS, "--split", "random"),
                ("did you mean 'sales'?", "sales.csv", "--target", "sale", "--past", 5),
                ("occurs twice (also in row 1)", "sales.csv", "--target", "sales", "--past", 5),
                ("no window of 100 steps", "sales.csv", "--target", "sales", "--entity", "shop", "--past", 100)):
            _, err = self.run_linnet("train", *arguments, status=2)
            self.assertIn(sentence, err)
            self.assertEqual(len(err.splitlines()), 1, err)


    def test_business_days_and_their_forecasts(self):
        days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(250)]
        days = [day for day in days if day.weekday() < 5 and day != datetime.date(2024, 5, 1)]
        rows = [f"{day:%d-%b-%y},{100 + math.sin(i):.3f}" for i, day in enumerate(days)]
        (self.folder / "close.csv").write_text("day,close\n" + "\n".join(reversed(rows)) + "\n")
        options = ("--device", "cpu", "--threads", 1, "--epochs", 2)
        _, err = self.run_linnet("train", "close.csv", "--target", "close", "--past", 10, "--future", 3, *options,
                                 "--out", "run")
        for text in ("the times keep a calendar, Monday to Friday", "the rows are sorted by time",
                     "1 further pauses of the calendar, such as that before 02-May-24, are holidays"):
            self.assertIn(text, err)
        out, _ = self.run_linnet("predict", "run", "close.csv")  # the last row is of Friday, the 6th
        self.assertEqual([line.split(",")[0] for line in out.splitlines()],
                         ["day", "09-Sep-24", "10-Sep-24", "11-Sep-24"])

    def test_events_become_a_series(self):
        rng = random.Random(2)
        start = datetime.datetime(2024, 1, 1)
        events = [start + datetime.timedelta(minutes=7 * i + rng.randrange(7)) for i in range(2000)]
        (self.folder / "events.csv").write_text(
            "at,amount\n" + "".join(f"{e:%Y-%m-%d %H:%M},{1 + i % 3}\n" for i, e in enumerate(events)))
        arguments = ("train", "events.csv", "--target", "amount", "--past", 8, "--device", "cpu", "--threads", 1)
        _, err = self.run_linnet(*arguments, status=2)
        self.assertIn("--off-step nearest", err)
        options = ("--step", "1h", "--off-step", "nearest", "--same-time", "sum", "--epochs", 2)
        _, err = self.run_linnet(*arguments, *options, "--out", "run")
        self.assertIn("forecasts 'amount' for the next 1 step of 1 hour from the last ", err)
        (self.folder / "events.toml").write_text(
            '[data]\nfile = "events.csv"\ntarget = "amount"\npast = 8\nstep = "1h"\noff_step = "nearest"\n'
            'same_time = "sum"\n[training]\nepochs = 2\n')
        self.run_linnet("train", "events.toml", "--device", "cpu", "--threads", 1, "--out", "toml")
        self.assertEqual(*[(self.folder / run / "model.safetensors").read_bytes() for run in ("run", "toml")])


class Page(guide_pages.PageTest):
    """Real series; each command of docs/guides/series.md prints what the page says."""

    def assert_better(self, summary, season, of_last, of_season):
        """The mean absolute error is below this share of persistence's, and of the seasonal naive
        forecast's."""
        scores = summary["targets"][0]
        self.assertEqual(summary["season"], season)
        self.assertLess(scores["model"]["mae"], of_last * scores["persistence"]["mae"])
        self.assertLess(scores["model"]["mae"], of_season * scores["seasonal_naive"]["mae"])

    def test_commands(self):
        self.unpack_tables()
        self.run_page("series")
        scores = json.loads((self.folder / "temperatures/metrics.json").read_text())
        self.assert_better(scores, season=365, of_last=0.85, of_season=0.75)

    def test_real_series(self):
        self.unpack_tables()
        for file, target, past, future, season, of_last, of_season in (
                ("madridNO2forecasting.csv", "NO2", 30, 7, 7, 0.85, 0.85),
                ("mauna_loa_co2.csv", "co2", 104, 26, 52, 0.5, 0.6)):
            arguments = ("--time", "date") if "co2" in file else ()
            summary = self.run_json("train", file, "--target", target, *arguments, "--past", past, "--future",
                                    future, "--out", target, "--device", "cpu")["series"]
            self.assert_better(summary, season, of_last, of_season)


if __name__ == "__main__":
    unittest.main()
