# SPDX-License-Identifier: Apache-2.0
"""The pages of `linnet serve` and `linnet runs` in a headless Chromium."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
import command

LINNET = os.environ["LINNET_COMMAND"]
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@unittest.skipIf(BROWSER is None or DRIVER is None, "there is no Chromium with its driver")
class Page(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-page-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def serve(self, *train):
        subprocess.run([LINNET, "train", *train, "--device", "cpu", "--out", "run"], cwd=self.folder,
                       check=True, capture_output=True)
        return self.browse("serve", "run")

    def browse(self, *arguments):
        """A browser on the page that the command serves."""
        server = subprocess.Popen([LINNET, *arguments, "--port", "0"], cwd=self.folder,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (server.send_signal(signal.SIGTERM), server.communicate(timeout=60)))
        address = re.fullmatch(r"(http://\S+)\n", server.stdout.readline())[1]
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                         "--window-size=390,844"):  # a phone's
            options.add_argument(argument)
        browser = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
        self.addCleanup(browser.quit)
        browser.get(address)
        WebDriverWait(browser, 20).until(
            lambda b: b.find_element(By.TAG_NAME, "body").get_attribute("data-ready"))
        return browser

    def answer(self, browser):
        """The names and texts of the answer's rows, once there are some."""
        def rows(b):
            return b.execute_script("return [...document.querySelectorAll('#answer tr')].map("
                                    "r => [...r.cells].slice(0, 2).map(c => c.textContent))")
        return WebDriverWait(browser, 20).until(rows)

    def fits(self, browser):
        """Nothing is wider than the window."""
        width = browser.execute_script(
            "return [document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(width[0], width[1])

    def test_a_drawn_digit(self):
        browser = self.serve("--workload", "mnist-cnn", "--data", "digits", "--epochs", "5")
        canvas = browser.find_element(By.ID, "canvas")
        ActionChains(browser).move_to_element_with_offset(canvas, 0, -90).click_and_hold() \
            .move_by_offset(0, 90).move_by_offset(0, 90).release().perform()
        rows = self.answer(browser)
        self.assertEqual(len(rows), 10)
        self.assertRegex(rows[0][1], r"^\d+\.\d\d %$")
        self.assertEqual(rows[0][0], "1")  # an upright stroke
        self.fits(browser)
        browser.find_element(By.ID, "clear").click()
        self.assertEqual(browser.find_elements(By.CSS_SELECTOR, "#answer tr"), [])

    def test_a_chosen_file(self):
        browser = self.serve("--workload", "mnist-cnn", "--data", "digits", "--epochs", "1")
        (self.folder / "bad.png").write_bytes(b"no image")
        browser.find_element(By.ID, "file").send_keys(str(self.folder / "bad.png"))
        WebDriverWait(browser, 20).until(
            lambda b: "the image" in b.find_element(By.ID, "error").text)

    def test_trainings_that_run(self):
        train = [LINNET, "train", "--workload", "mnist-cnn", "--data", "digits", "--device", "cpu"]
        subprocess.run([*train, "--epochs", "2", "--out", "runs/done"], cwd=self.folder, check=True,
                       capture_output=True)
        training = subprocess.Popen([*train, "--epochs", "100000", "--out", "runs/live"],
                                    cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (training.kill(), training.wait()))
        while not (self.folder / "runs/live/history.jsonl").exists():
            time.sleep(0.05)
        browser = self.browse("runs", "--serve")
        cells = "return [...document.querySelectorAll('#table tr')].map(r => [...r.cells].map(c => c.textContent))"

        def live(b):
            found = [row for row in b.execute_script(cells) if row[0] == "live"]
            return found and "/100000" in found[0][2] and found[0]
        first = WebDriverWait(browser, 30).until(live)
        self.assertRegex(first[7], r"^\d+$")  # samples/s
        self.assertRegex(first[8], r"^\d+ MiB$")
        self.assertRegex(first[10], r"^\d+ (h|min|s)")  # time left
        self.assertGreaterEqual(len(browser.find_elements(By.CSS_SELECTOR, "#charts path")), 6)
        WebDriverWait(browser, 30).until(lambda b: live(b)[2] != first[2])  # by itself
        self.fits(browser)

    def test_a_row_of_numbers(self):
        command.write_points(self.folder / "points")
        (self.folder / "net.toml").write_text(command.POINTS % "")
        browser = self.serve("net.toml", "--epochs", "300")
        fields = browser.find_elements(By.CSS_SELECTOR, "#fields input")
        self.assertEqual(len(fields), 4)
        fields[0].clear()
        fields[0].send_keys("2.5")
        browser.find_element(By.CSS_SELECTOR, "#row button").click()
        rows = dict(self.answer(browser))
        self.assertGreater(float(rows["1"].rstrip(" %")), float(rows["0"].rstrip(" %")))
        self.fits(browser)


if __name__ == "__main__":
    unittest.main()
