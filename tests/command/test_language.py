# SPDX-License-Identifier: Apache-2.0
"""Language models: texts to continue, their report, `linnet generate`."""
import random
import unittest

import command

SMALL = ("--task", "language", "--context", 16, "--layers", 1, "--width", 16, "--heads", 2, "--threads", 1)


class Languages(command.CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "corpus.txt").write_text("the cat sat on the mat.\n" * 60)

    def train(self, *arguments):
        return self.run_json("train", "corpus.txt", *SMALL, "--epochs", 12, "--batch", 8, "--lr", 0.01, "--out", "run",
                             *arguments)

    def test_a_text_is_learned_measured_and_continued(self):
        summary = self.train()
        measured = summary["language"]
        self.assertEqual(measured["part"], "test")
        self.assertLess(measured["bits_per_character"], measured["pairs"]["bits_per_character"])
        self.assertLess(measured["pairs"]["bits_per_character"], measured["frequencies"]["bits_per_character"])
        self.assertIn("bits for a character of the test set", summary["verdict"])
        self.assertIn("frequencies of pairs", (self.folder / "run/report.html").read_text())
        out, err = self.run_linnet("generate", "run", "--prompt", "the c", "--length", 30, "--temperature", 0)
        self.assertEqual((out, err), ("the cat sat on the mat.\nthe cat sat\n", ""))
        out, _ = self.run_linnet("generate", "run", "--prompt-file", "-", "--length", 4, "--top-k", 1, input="the c")
        self.assertEqual(out, "the cat s\n")
        (self.folder / "begin.txt").write_text("the c")
        found = self.run_json("generate", "run", "--prompt-file", "begin.txt", "--length", 40, "--seed", 3, "--threads", 2)
        self.assertTrue(found["cache"])
        for more in (("--threads", 1), ("--no-cache",)):
            again = self.run_json("generate", "run/model.safetensors", "--prompt", "the c", "--length", 40, "--seed", 3, *more)
            self.assertEqual(again["text"], found["text"])
        self.assert_error("the model does not know the character 'd' of the prompt", "generate", "run", "--prompt", "dog")
        self.assert_error("--temperature: expected a number of at least 0 and finite; got '-1'", "generate", "run", "--temperature=-1")
        (self.folder / "new.txt").write_text("the mat sat on the cat.\n" * 3)
        scores = self.run_json("evaluate", "run", "--data", "new.txt")
        self.assertEqual(scores["language"]["characters"], 4 * 16)
        self.assertIn("bits per character", self.run_linnet("evaluate", "run", "--data", "new.txt")[0])
        self.assertRegex(self.run_linnet("evaluate", "run", "--data", "new.txt", "--batch", 2, status=2)[1],
                         "--batch is for other models")
        self.assertRegex(self.run_linnet("predict", "run", "new.txt", status=2)[1], "linnet generate. continues a text")

    def test_a_training_goes_on_with_another_text(self):
        self.train()
        (self.folder / "more.txt").write_text("the mat sat on the cat.\n" * 60)
        summary = self.run_json("train", "more.txt", "--task", "language", "--from", "run", "--epochs", 2, "--out", "more")
        self.assertIn("language", summary)
        self.assert_error("--width is for new language models; the model to start from has its own: leave it out",
                          "train", "more.txt", "--task", "language", "--from", "run", "--width", 8)

    def test_bad_texts_are_refused(self):
        rng = random.Random(1)
        for content, sentence in ((b"", "'bad.txt' needs at least 2 different characters"),
                                  (b"a" * 1000, "'bad.txt' needs at least 2 different characters"),
                                  (b"too short", "'bad.txt' is too short"),
                                  (bytes(rng.randrange(256) for _ in range(4000)), "bad.txt")):
            (self.folder / "bad.txt").write_bytes(content)
            _, err = self.run_linnet("train", "bad.txt", *SMALL, status=2)
            self.assertIn(sentence, err)

    def test_other_data_keep_their_tasks(self):
        lines = "".join(f"{'good' if i % 2 else 'bad'}\t{'a fine film' if i % 2 else 'a dull film'}\n" for i in range(40))
        (self.folder / "films.txt").write_text(lines)
        summary = self.run_json("train", "films.txt", "--epochs", 1, "--out", "films")
        self.assertNotIn("language", summary)
        self.assert_error("--context is for language models (--task language); 'films.txt' holds texts: leave it out",
                          "train", "films.txt", "--context", 16)
        _, err = self.run_linnet("generate", "films", "--prompt", "a", status=2)
        self.assertIn("expected a language model", err)


if __name__ == "__main__":
    unittest.main()
