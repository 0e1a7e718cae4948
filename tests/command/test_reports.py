# SPDX-License-Identifier: Apache-2.0
"""What is done with the model of a table: report.html and `linnet evaluate`, `linnet importance`,
`linnet optimize`."""
import csv
import json
import random
import re
import unittest

import command
from test_tables import write_values


def write_flags(path, rows=300):
    """y is yes where x is above 0, but for a fifth of the rows."""
    rng = random.Random(4)
    lines = ["x,z,y"]
    for _ in range(rows):
        x, z = rng.gauss(0, 1), rng.gauss(0, 1)
        yes = (x > 0) != (rng.random() < 0.2)
        lines.append(f"{x:.4f},{z:.4f},{'yes' if yes else 'no'}")
    path.write_text("\n".join(lines) + "\n")


class Reports(command.CommandTest):
    def train_table(self, *arguments):
        return self.run_linnet("train", *arguments, "--out", "run", "--threads", 1, "--device", "cpu")

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_values(self):
        write_values(self.folder / "values.csv")
        _, err = self.train_table("values.csv", "--target", "y", "--epochs", 20)
        self.assertRegex(err.splitlines()[-1], r"^linnet: test R² 0\.\d{4}; report: run/report\.html$")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        kept = json.loads((self.folder / "run/metrics.json").read_text())
        self.assertEqual(summary["test_r_squared"], kept["r_squared"])
        page = (self.folder / "run/report.html").read_text()
        places = [page.index(f"<h2>{title}") for title in (
            "Result (test set)", "What matters most", "Notes", "Loss", "Predicted against actual", "Residuals",
            "Histogram of the residuals", "Worst predictions", "Training and machine", "Epochs")]
        self.assertEqual(places, sorted(places))
        self.assertRegex(page, r"<td>this model</td><td>0\.\d{4}</td>")
        self.assertIn("<td>linear model (ridge regression)</td>", page)
        self.assertRegex(page, r"<td>always the training set&#39;s mean</td><td>-0\.\d{4}</td>")
        self.assertEqual([*summary][0], "verdict")
        self.assertEqual({*summary["linear"]}, {"r_squared", "mae", "rmse", "beaten"})
        bars = re.findall(r"<span>([xc])</span><i><b style=\"width:([\d.]+)%", page)
        self.assertEqual(bars[0], ("x", "100.0"))
        self.assertEqual(bars[1][0], "c")
        rows = self.rows("values.csv")
        worst = re.findall(r"<tr><td>(\d+)</td><td>([\d.]+)</td><td>[\d.]+</td><td>-?[\d.]+</td></tr>",
                           page)
        self.assertEqual(len(worst), 10)
        for row, actual in worst:
            self.assertAlmostEqual(float(rows[int(row) - 1]["y"]), float(actual), places=2)

        record = self.run_json("evaluate", "run", "--data", "values.csv")
        (report,) = record["report"]["targets"]
        self.assertEqual(report["target"], "y")
        self.assertEqual(sum(report["residuals"]["counts"]), 200)
        self.assertEqual(report["r_squared"], record["metrics"]["r_squared"])
        errors = [abs(one["actual"] - one["predicted"]) for one in report["worst"]]
        self.assertEqual(errors, sorted(errors, reverse=True))
        for one in report["worst"]:
            self.assertAlmostEqual(float(rows[one["row"] - 1]["y"]), one["actual"], places=3)
        out, _ = self.run_linnet("evaluate", "run", "--data", "values.csv")
        self.assertIn(f"largest residuals: row {report['worst'][0]['row']} (", out)

    def test_two_classes(self):
        write_flags(self.folder / "flags.csv")
        self.train_table("flags.csv", "--target", "y", "--epochs", 8)
        page = (self.folder / "run/report.html").read_text()
        for title in ("ROC curve of &#39;yes&#39;", "Precision and recall of &#39;yes&#39;",
                      "Calibration", "Gain of &#39;yes&#39;", "Lift of &#39;yes&#39;", "Classes"):
            self.assertIn(f"<h2>{title}</h2>", page)
        record = self.run_json("evaluate", "run", "--data", "flags.csv", "--cost", "FP=1,FN=5")
        (of,) = record["report"]["classes"]
        self.assertEqual(of["class"], "yes")
        # Once more from what `linnet predict` says.
        outputs = [p["outputs"][1] for p in
                   self.run_json("predict", "run", "flags.csv")["predictions"]]
        truth = [row["y"] == "yes" for row in self.rows("flags.csv")]
        pairs = [(a > b) + (a == b) / 2 for a, t in zip(outputs, truth) if t
                 for b, u in zip(outputs, truth) if not u]
        self.assertAlmostEqual(of["roc_auc"], sum(pairs) / len(pairs), places=5)

        def cost(threshold):
            return sum(1 if p >= threshold and not t else 5 if p < threshold and t else 0
                       for p, t in zip(outputs, truth)) / len(truth)

        best = of["threshold"]
        self.assertAlmostEqual(best["cost"], min(map(cost, outputs)), places=9)
        self.assertAlmostEqual(cost(best["threshold"] - 1e-6), best["cost"], places=9)
        self.assertEqual(best["false_positives"] + 5 * best["false_negatives"],
                         round(best["cost"] * len(truth)))
        self.assertLess(best["threshold"], 0.5)
        self.assertEqual(of["curve"][-1]["recall"], 1)
        self.assertAlmostEqual(sum(b["samples"] for b in of["calibration"]), len(truth))

        out, _ = self.run_linnet("evaluate", "run", "--data", "flags.csv", "--cost", "FN=5,FP=1",
                                 "--report", "page.html")
        self.assertRegex(out, r"'yes': ROC AUC 0\.\d{4} \(95 %: 0\.\d{4} to [01]\.\d{4}\), average precision 0\.\d{4}, "
                              r"calibration error 0\.\d{4}, Brier score 0\.\d{4}\n"
                              r"predict 'yes' from 0\.\d{4} on: mean cost ")
        page = (self.folder / "page.html").read_text()
        self.assertIn("<th>threshold</th><th>mean cost</th>", page)
        self.assertIn("Confusion matrix (test)", page)

    def test_a_wrong_cost_is_an_error(self):
        write_values(self.folder / "values.csv")
        self.train_table("values.csv", "--target", "y", "--epochs", 1)
        for text in ("1,5", "FP=1", "FP=-1,FN=2", "FP=1,FN=x"):
            self.assert_error("--cost is what a false positive and a false negative cost, e.g. "
                              f"FP=1,FN=5; got '{text}'", "evaluate", "run", "--data", "values.csv",
                              "--cost", text)
        self.assert_error("--cost chooses thresholds of classes; 'values.csv' has values", "evaluate",
                          "run", "--data", "values.csv", "--cost", "FP=1,FN=5")

    def test_without_a_test_set_the_validation_set_measures(self):
        write_flags(self.folder / "flags.csv")
        self.train_table("flags.csv", "--target", "y", "--epochs", 3, "--test", 0)
        page = (self.folder / "run/report.html").read_text()
        self.assertIn("<h2>Result (validation set)</h2>", page)
        self.assertIn("<h2>Confusion matrix (validation)</h2>", page)
        self.assertIn("<td>linear model (logistic regression)</td>", page)
        self.assertIn(" validation rows; ", json.loads((self.folder / "run/summary.json").read_text())["verdict"])

    def test_partial_dependence_on_dates_is_in_the_order_of_time(self):
        days = [f"{d:02}.{m:02}.{y}" for y in (2022, 2023) for m in range(1, 13) for d in range(1, 29)]
        random.Random(3).shuffle(days)
        lines = [f"{day};{int(day[6:]) * 12 + int(day[3:5]) - 24000}" for day in days]
        (self.folder / "days.csv").write_text("day;y\n" + "\n".join(lines) + "\n")
        self.train_table("days.csv", "--target", "y", "--task", "regression", "--epochs", 40)
        record = self.run_json("importance", "run", "days.csv", "--column", "day")
        points = record["partial_dependence"][0]["points"]
        shown = [point["value"] for point in points]
        self.assertEqual(shown, sorted(shown, key=lambda day: day.split(".")[::-1]))
        self.assertEqual((len(shown), shown[0], shown[-1]), (20, "01.01.2022", "28.12.2023"))
        means = [point["mean"][0] for point in points]
        self.assertGreater(means[-1], means[0] + 12)

    def test_importance(self):
        write_values(self.folder / "values.csv")
        self.train_table("values.csv", "--target", "y", "--epochs", 30)
        record = self.run_json("importance", "run", "values.csv", "--repeats", 3, "--seed", 2)
        self.assertEqual((record["score"], record["rows"], record["repeats"]), ("R²", 200, 3))
        self.assertEqual([c["column"] for c in record["columns"]], ["x", "c"])
        first = record["columns"][0]
        self.assertEqual(len(first["losses"]), 3)
        self.assertAlmostEqual(first["mean"], sum(first["losses"]) / 3)
        self.assertGreater(first["mean"], 0.5)
        dependence = {of["column"]: of for of in record["partial_dependence"]}
        a, b = (point["mean"][0] for point in dependence["c"]["points"])
        self.assertAlmostEqual(a - b, 20, delta=4)
        means = [point["mean"][0] for point in dependence["x"]["points"]]
        self.assertEqual(len(means), 20)
        self.assertEqual(means, sorted(means))
        out, _ = self.run_linnet("importance", "run", "values.csv", "--repeats", 3, "--seed", 2,
                                 "--column", "c", "--report", "page.html")
        self.assertRegex(out, r"^values\.csv: 200 rows, R² [01]\.\d{4}\ncolumn +importance +std\nx +"
                              f"{first['mean']:.4f} +{first['std']:.4f}\nc ")
        self.assertIn("partial dependence on 'c'\n", out)
        page = (self.folder / "page.html").read_text()
        self.assertIn("<h2>Importance of the columns</h2>", page)
        self.assertIn("<h2>Partial dependence on &#39;c&#39;</h2>", page)
        self.assert_error("the model reads no column 'z'", "importance", "run", "values.csv",
                          "--column", "z")

    def test_novelty(self):
        write_values(self.folder / "values.csv", rows=600)
        self.assert_error("a novelty is learned of all columns, without a target; leave out --target (--ignore leaves "
                          "out a column)", "train", "values.csv", "--task", "novelty", "--target", "y")
        self.train_table("values.csv", "--task", "novelty", "--ignore", "id", "--epochs", 60)
        (self.folder / "rows.csv").write_text("x,c,y\n0.5,a,1015\n0.5,b,1015\n0.5,a,900\n")
        usual, _, far = self.run_linnet("predict", "run", "rows.csv")[0].splitlines()
        self.assertTrue(usual.endswith("\tusual"), usual)
        self.assertTrue(far.endswith("\tnovel"), far)
        answers = self.run_json("predict", "run", "rows.csv")
        self.assertEqual([one["novel"] for one in answers["predictions"]],
                         [one["outputs"][0] > answers["threshold"] for one in answers["predictions"]])
        self.run_linnet("predict", "run", "rows.csv", "--output", "p.csv")
        self.assertEqual((self.folder / "p.csv").read_text().splitlines()[0], "input,novelty,novel")
        scores = self.run_json("evaluate", "run", "--data", "rows.csv")["novelty"]
        self.assertEqual((scores["rows"], scores["threshold"]), (3, answers["threshold"]))
        self.assertEqual(scores["above"], sum(one["novel"] for one in answers["predictions"]))
        novelties = [one["outputs"][0] for one in answers["predictions"]]
        self.assertEqual([row["row"] for row in scores["most_novel"]], sorted((1, 2, 3), key=lambda i: -novelties[i - 1]))
        for row in scores["most_novel"]:
            self.assertAlmostEqual(row["novelty"], novelties[row["row"] - 1], places=4)
        out, _ = self.run_linnet("evaluate", "run", "--data", "values.csv")
        self.assertRegex(out, r"^values\.csv: 600 rows, median novelty [\d.e-]+\n\d+ of them \(\d+\.\d %\) above the "
                              r"threshold [\d.]+, which 95 % .*\nthe most novel rows:\n  row \d+: ")
        self.assertEqual(len(out.splitlines()), 13)
        self.assert_error("--cost is for other models; 'run' takes rows: leave it out", "evaluate", "run", "--data",
                          "values.csv", "--cost", "FP=1,FN=2")

    def test_optimize(self):
        write_values(self.folder / "values.csv")
        self.train_table("values.csv", "--target", "y", "--epochs", 30)
        search = ("optimize", "run", "--generations", 15)
        (best,) = self.run_json(*search, "--maximize", "x")["best"]
        known = best["inputs"]["x"]
        (best,) = self.run_json(*search, "--maximize", "x", "--data", "values.csv")["best"]
        self.assertLessEqual(known, best["inputs"]["x"], "the training rows are some of the file's")
        self.assertAlmostEqual(known, 1, delta=0.05)
        (best,) = self.run_json(*search, "--maximize", "y", "--subject", "x <= 0.5")["best"]
        self.assertEqual(best["inputs"]["c"], "a")
        self.assertAlmostEqual(best["inputs"]["x"], 0.5, places=3)
        self.assertEqual(best["goals"], [best["outputs"]["y"]])
        (best,) = self.run_json(*search, "--maximize", "x", "--subject", "x <= 0.25 or c = b", "--subject",
                                "c = a")["best"]
        self.assertAlmostEqual(best["inputs"]["x"], 0.25, places=3)
        (best,) = self.run_json(*search, "--target", "y=990", "--subject", "c = b")["best"]
        self.assertAlmostEqual(best["outputs"]["y"], 990, places=2)
        self.assertEqual(best["inputs"]["c"], "b")
        front = self.run_json(*search, "--maximize", "y", "--minimize", "x")["best"]
        self.assertGreater(len(front), 10)
        out, _ = self.run_linnet(*search, "--minimize", "y", "--range", "x=0..1")
        self.assertRegex(out, r"^y +\d+\.?\d*\nx +[\d.e-]+\nc +b\n$")
        self.assert_error("say what is wanted: --minimize, --maximize or --target", *search)
        self.assert_error("the constraint 'x >= 7' leaves no value of the column 'x', which is "
                          "searched from 0 to 1", *search, "--minimize", "y", "--range", "x=0..1",
                          "--subject", "x >= 7")
        self.assert_error("--range is COLUMN=LOW..HIGH, e.g. x1=0..10; got 'x=1'", *search,
                          "--minimize", "y", "--range", "x=1")


if __name__ == "__main__":
    unittest.main()
