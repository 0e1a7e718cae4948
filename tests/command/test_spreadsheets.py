# SPDX-License-Identifier: Apache-2.0
"""Spreadsheets in the commands that read tables, and --sheet."""
import unittest
import zipfile

import command


class Spreadsheets(command.CommandTest):
    def test_spreadsheets(self):
        names = ("day", "shop", "x", "y")
        rows = ["".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in names)]
        for i in range(80):
            rows.append(f'<c s="1"><v>{45292 + i}</v></c><c t="inlineStr"><is><t>{"ab"[i % 2]}</t></is></c>'
                        f'<c><v>{i % 11}.5</v></c><c><v>{i % 11 * 3 + i % 2}</v></c>')
        types = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
        sheets = "".join(f'<Relationship Id="{n}" Type="{types}worksheet" Target="{n}.xml"/>' for n in ("s1", "s2"))
        files = {
            "xl/workbook.xml": '<workbook><sheets><sheet name="plan" r:id="s1"/><sheet name="sales" r:id="s2"/>'
                               "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships>{sheets}<Relationship Id="f" Type="{types}styles" '
                                          'Target="styles.xml"/></Relationships>',
            "xl/styles.xml": '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
            "xl/s1.xml": "<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>",
            "xl/s2.xml": "<worksheet><sheetData>" + "".join(f"<row>{row}</row>" for row in rows) +
                         "</sheetData></worksheet>"}
        with zipfile.ZipFile(self.folder / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        out, _ = self.run_linnet("data", "info", "t.xlsx", "--sheet", "sales")
        self.assertRegex(out, r"80 rows, 4 columns.*\n.*has 2 sheets; the table is 'sales'\n +1 +day +date_time "
                              r".*2024-01-01 to 2024-03-20")
        _, err = self.run_linnet("data", "info", "t.xlsx", "--sheet", "sale", status=2)
        self.assertIn("it has no sheet 'sale'; it has plan or sales; did you mean 'sales'?", err)
        common = ("--epochs", 2, "--device", "cpu", "--threads", 1, "--sheet", "2", "--out")
        self.run_linnet("train", "t.xlsx", "--target", "y", *common, "run")
        sales = "linnet: 't.xlsx' has 2 sheets; the table is 'sales'\n"
        out, err = self.run_linnet("predict", "run", "t.xlsx", "--sheet", "sales")
        self.assertEqual((len(out.splitlines()), err), (80, sales))
        for words in (("evaluate", "run", "--data", "t.xlsx"), ("importance", "run", "t.xlsx"),
                      ("optimize", "run", "--minimize", "y", "--generations", 1, "--data", "t.xlsx")):
            self.assertIn(sales, self.run_linnet(*words, "--sheet", "2")[1])
            _, err = self.run_linnet(*words, "--sheet", "sals", status=2)
            self.assertIn("it has no sheet 'sals'; it has plan or sales; did you mean 'sales'?", err)
        _, err = self.run_linnet("predict", "run", "t.xlsx", status=2)
        self.assertIn("'t.xlsx' has 1 columns; the model learned from 4", err)
        # A series, and texts in a column.
        self.run_linnet("train", "t.xlsx", "--target", "y", "--past", 7, "--future", 2, "--time", "day", *common, "series")
        out, err = self.run_linnet("predict", "series", "t.xlsx", "--sheet", "sales")
        self.assertEqual(out.splitlines()[1][:10], "2024-03-21")
        self.assertIn(sales, err)
        self.assertIn(sales, self.run_linnet("evaluate", "series", "--data", "t.xlsx", "--sheet", "2")[1])
        _, err = self.run_linnet("train", "t.xlsx", "--text", "shop", "--target", "shop", *common, "texts")
        self.assertIn(sales, err)
        out, err = self.run_linnet("predict", "texts", "t.xlsx", "--text", "shop", "--sheet", "sales")
        self.assertEqual(len(out.splitlines()), 80)
        self.assertIn(sales, err)
        self.assertIn("80 samples", self.run_linnet("evaluate", "texts", "--data", "t.xlsx", "--sheet", "2")[0])
        # Where no sheet can be meant.
        (self.folder / "rows.csv").write_text("day,shop,x,y\n2024-01-01,a,1,2\n")
        self.assert_error("'rows.csv' is not a spreadsheet: there is no sheet 'sales'", "predict", "run", "rows.csv",
                          "--sheet", "sales")


if __name__ == "__main__":
    unittest.main()
