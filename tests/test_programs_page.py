"""The programs of docs/guide/programs.md, and the output that the page shows."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "programs.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.usefixtures("single_precision")
def test_the_programs_do_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    *programs, service = blocks("python")
    for code, shown in zip(programs, blocks("text"), strict=True):
        exec(code, {})
        assert capsys.readouterr().out == shown
    names: dict[str, object] = {"__name__": "service"}
    exec(service, names)
    client = TestClient(names["app"])  # type: ignore[arg-type]
    assert (
        client.post("/restore", content="however we went\n\nwe went").text == "However, we went.\n\nWe went."
    )
    running = (
        "so i met john in london\nyesterday he thinks the weather\nis awful what do you think\n\nwe went"
    )
    restored = (
        "So I met John in London\nyesterday. He thinks the weather\nis awful. What do you think?\n\nWe went."
    )
    assert client.post("/restore?running=true", content=running).text == restored
    assert client.post("/restore", content="").text == ""
    for content, status, problem in (
        ("a\n" * 50_001, 413, "100,000 bytes"),
        ("a" * 1_001, 422, "1,000 characters"),
        (b"\xed\xa0\x80", 400, "not UTF-8"),
    ):
        answer = client.post("/restore", content=content)
        assert answer.status_code == status
        assert problem in answer.json()["detail"]
    names["SECONDS"] = -1
    answer = client.post("/restore", content="we went")
    assert (answer.status_code, answer.json()["detail"]) == (503, "0 of 1 parts were restored in -1 s")
    assert 'host="127.0.0.1"' in service
