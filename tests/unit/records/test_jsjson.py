"""JSON as JavaScript writes it; expected values are those of a JavaScript engine."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.records.jsjson import parse, stringify


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("123456789012345680000.0", "123456789012345680000"),
        ("12345678901234567890", "12345678901234567000"),
        ("9007199254740993", "9007199254740992"),
        ("0.000001", "0.000001"),
        ("1e-7", "1e-7"),
        ("-1.5e-9", "-1.5e-9"),
        ("1.25e+30", "1.25e+30"),
        ("0.1", "0.1"),
        ("123.456", "123.456"),
        ("1e999", "null"),
        ("1" * 5000, "null"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("[ true, false ,null]", "[true,false,null]"),
        ('{"b":1,"a":[{}]}', '{"b":1,"a":[{}]}'),
        ('{"b":1,"10":2,"2":3,"01":4,"-1":5}', '{"2":3,"10":2,"b":1,"01":4,"-1":5}'),
        ('{"4294967295":1,"4294967294":2}', '{"4294967294":2,"4294967295":1}'),
        ('{"1st":1,"a":2}', '{"1st":1,"a":2}'),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        (r'"\u00e9\/\u2028\ud83d\ude00<"', '"é/\u2028😀<"'),
        (r'"\ud83dx\uDE00"', r'"\ud83dx\ude00"'),
        (r'"\"\\\n\u0001\u007f"', r'"\"\\\n\u0001' + '\x7f"'),
    ],
)
def test_stringify_writes_what_javascript_writes(text: str, expected: str) -> None:
    assert stringify(parse(text)) == expected


@pytest.mark.parametrize("text", ["", "NaN", "Infinity", "{", "[" * 100_000])
def test_parse_refuses_what_is_no_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting|deep"):
        parse(text)
