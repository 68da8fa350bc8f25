"""Odd rows from spreadsheets or typed by people, and their cells in the error report."""

from __future__ import annotations

from decimal import Decimal

import pytest

from catalog.models import Variant
from tests.factories import set_stock

HEADER = "sku,title,retail_price,description"
SPACES = "".join(chr(each) for each in range(0x3001) if chr(each).isspace() and not 0x0A < each < 0x20)


def faults(job):
    return [(each["line"], each["field"], each["code"]) for each in job["errors"]]


# --- Empty rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", [",,,", " , ,\t, ", '"","","",""', ",", "\u00a0,,,", ",,,,,,"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_row_of_delimiters_and_blanks_is_no_record(acme, upload, ran, blank, newline):
    rows = [HEADER, blank, "A-1,Shirt,1,x", blank, blank, "A-2,Hat,2,x", blank]

    job = ran(acme, file_url=upload(acme, newline.join(rows)))

    assert (job["status"], job["rows_total"], job["created"], job["rejected"]) == ("succeeded", 2, 2, 0)
    assert job["warnings"] == ["4 rows hold only delimiters and blanks; they were skipped: lines 2, 4, 5, 7."]


def test_spaces_around_a_sku_are_removed_as_the_api_removes_them(acme, client_for, ran):
    ran(acme, data=["sku,title,retail_price", f'"{SPACES}A-1{SPACES}",Hat,1'])

    listed = client_for(acme).get("variants", {"sku": f"{SPACES}A-1{SPACES}"}).json()
    assert [variant["sku"] for variant in listed] == ["A-1"]


def test_a_german_export_with_empty_rows_at_its_end_lands_completely(acme, upload, ran):
    rows = ["Artikelnummer;Bezeichnung;Preis", *(f"DE-{n};Größe {n};{n},50" for n in range(1, 21))]
    content = "\r\n".join([*rows, *[";;"] * 57, ""]).encode("cp1252")
    mapping = ["Artikelnummer:sku", "Bezeichnung:title", "Preis:retail_price"]

    job = ran(acme, file_url=upload(acme, content), field_mapping=mapping)

    assert (job["status"], job["created"], job["rejected"]) == ("succeeded", 20, 0)
    assert "57 rows hold only" in job["warnings"][1]
    assert "lines 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 …" in job["warnings"][1]
    assert Variant.objects.get(sku="DE-3").retail_price == Decimal("3.5")


def test_a_row_of_empty_cells_is_counted_and_an_empty_line_is_not(acme, upload, ran):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\n\nA-1,Shirt,1,x\n,,,\n\n"))

    assert job["warnings"] == ["Line 4 holds only delimiters and blanks; it was skipped."]


def test_empty_cells_beyond_the_headers_last_column_are_ignored(acme, upload, ran):
    rows = [HEADER, "A-1,Shirt,1,x,", "A-2,Hat,2,x,,  ,", "A-3,Cap,3,x,,full"]

    job = ran(acme, file_url=upload(acme, "\n".join(rows)))

    assert (job["created"], faults(job)) == (2, [(4, "", "ragged")])


# --- Characters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "field", "code", "said"),
    [
        (b"A-1,Gr\xf6\xdfe,1,x", "title", "undecodable", "Character 3 of title is the byte 0xF6"),
        (b"A-1,Bell\x07,1,x", "title", "control", "Character 5 of title is U+0007, a control"),
        (b"A-1,Shirt,1,\x00", "description", "control", "Character 1 of description is U+0000"),
        ("A-1,Gr�ße,1,x".encode(), "title", "damaged_text", "Character 3 of title is U+FFFD"),
        (b'"A\x1b1",Shirt,1,x', "sku", "control", "Character 2 of sku is U+001B"),
    ],
)
def test_an_odd_character_is_named_with_its_column_and_position(acme, upload, ran, row, field, code, said):
    content = b"\n".join([HEADER.encode(), "A-0,Größe,1,x".encode(), row, b"A-2,Hat,2,x"])

    job = ran(acme, file_url=upload(acme, content))

    assert (job["created"], faults(job)) == (2, [(3, field, code)])
    assert said in job["errors"][0]["message"]


@pytest.mark.parametrize("half", [0xD83D, 0xDE00])
def test_half_of_a_character_of_a_utf_16_file_is_named(acme, upload, ran, errors_csv, half):
    rows = f"{HEADER}\nA-1,Hat{chr(half)},1,x\nA-2,Größe 😀,2,x\n"

    job = ran(acme, file_url=upload(acme, b"\xff\xfe" + rows.encode("utf-16-le", "surrogatepass")))

    assert (job["created"], faults(job)) == (1, [(2, "title", "undecodable")])
    name = f"U+{half:04X}"
    assert job["errors"][0]["message"] == f"Character 4 of title is half of a character, {name}."
    assert errors_csv(acme, job)[1] == [["A-1", "Hat\ufffd", "1", "x"]]


def test_unreadable_characters_come_back_marked_and_never_land(acme, upload, ran, errors_csv):
    rows = ["A-0,Größe,1,ä".encode(), b"A-1,Gr\xf6\xdfe,1,x", b"A-2,Bell\x07,2,x", b"A-3,N\x00ll,3,x"]
    job = ran(acme, file_url=upload(acme, b"\n".join([HEADER.encode(), *rows])))

    text, cells = errors_csv(acme, job)

    assert cells == [
        ["A-1", "Gr��e", "1", "x"],
        ["A-2", "Bell�", "2", "x"],
        ["A-3", "N�ll", "3", "x"],
    ]
    again = ran(acme, file_url=upload(acme, text))
    assert [(each["field"], each["code"]) for each in again["errors"]] == [("title", "damaged_text")] * 3
    corrected = text.replace("Gr��e", "Größe").replace("Bell�", "Bell").replace("N�ll", "Null")
    assert ran(acme, file_url=upload(acme, corrected))["created"] == 3
    assert Variant.objects.get(sku="A-1").title == "Größe"


def test_the_reports_own_columns_may_quote_damaged_text(acme, ran):
    rows = ["line,field,code,message,sku,title,retail_price", "3,title,x,'Gr�':,A-1,Shirt,1"]

    assert ran(acme, data=rows)["created"] == 1


def test_a_corrected_report_finds_the_sku_that_began_with_a_tab(acme, upload, ran, errors_csv):
    ran(acme, data=["sku,title,retail_price", '"\t00123",Hat,1'])
    text, cells = errors_csv(acme, ran(acme, data=["sku,title,retail_price", '"\t00123",Hat,x']))
    assert cells == [["'\t00123", "Hat", "x"]]

    job = ran(acme, file_url=upload(acme, text.replace("Hat,x", "Hat,5")))

    assert (job["updated"], int(Variant.objects.get().retail_price)) == (1, 5)


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("A-1,Cap", ["A-1", "Cap"]),
        ("A-1,Cap,1,x,y,z", ["A-1", "Cap", "1", "x", "y", "z"]),
        ('A-1,"Shut"x,4,"a,b"', ["A-1", '"Shut"x', "4", "a,b"]),
        ('A-1,"Pipe, 5" wide",1,x', ["A-1", 'Pipe, 5" wide', "1", "x"]),
        ('A-1,"Never closed,2,x', ["A-1", "�Never closed", "2", "x"]),
        ("A-1,=cmd(),cheap,-x", ["A-1", "'=cmd()", "cheap", "'-x"]),
        ('A-1,"say ""hi"", now",cheap,"a\nb"', ["A-1", 'say "hi", now', "cheap", "a\nb"]),
    ],
)
def test_a_rejected_row_keeps_as_many_cells_as_it_had(acme, upload, ran, errors_csv, row, cells):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-0,Tie,1,x\n{row}\nA-2,Hat,2,x\n"))

    assert (job["created"], job["rejected"]) == (2, 1), job
    assert errors_csv(acme, job)[1] == [cells]


def test_a_row_with_an_open_quote_does_not_land_by_being_sent_back(acme, upload, ran, errors_csv):
    job = ran(acme, file_url=upload(acme, f'{HEADER}\nA-1,"Never closed,2,x\nA-2,Hat,2,x\n'))

    again = ran(acme, file_url=upload(acme, errors_csv(acme, job)[0]))

    assert (again["created"], [each["code"] for each in again["errors"]]) == (0, ["damaged_text"])


@pytest.mark.parametrize("row", ["A-2,\ufffd", "A\u200b-2,7", "A\u00ad-2,7"])
def test_an_unreadable_row_of_a_full_stock_file_zeroes_nothing(acme, a_variant, stocked, row):
    for sku in ("A-1", "A-2", "A-3"):
        a_variant(acme, sku, stock=5)
    set_stock(on_hand=5)

    job = stocked(acme, f"sku,quantity\nA-1,7\n{row}\n", mode="full")

    assert (job["rejected"], job["report"]["zeroed"]) == (1, 0)
    assert "could not be read" in job["report"]["kept"]


# --- Habits of spreadsheets and web pages ----------------------------------------------------------


@pytest.mark.parametrize("cell", ['"=""00123"""', '="00123"', "00123", " 00123\u00a0", "\u200b00123\u2060"])
def test_a_text_that_looks_like_a_number_keeps_its_zeros(acme, upload, ran, cell):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\n{cell},Shirt,1,x\n"))

    assert (job["created"], Variant.objects.get().sku) == (1, "00123"), job


def test_an_invisible_character_in_a_sku_is_named(acme, upload, ran, stocked):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-\u200b1,Shirt,1,zero\u200bwidth\nA-2,Hat,2,x\n"))

    assert (job["created"], faults(job)) == (1, [(2, "sku", "invisible")])
    assert "Character 3 of sku is U+200B" in job["errors"][0]["message"]
    stock = stocked(acme, "sku,quantity\nA\u00ad-2,7\n")
    assert "Character 2 of sku is U+00AD" in stock["errors"][0]["message"]


def test_a_header_may_hold_zero_width_blanks(acme, upload, ran):
    assert (
        ran(acme, file_url=upload(acme, "\u200bsku,title\u00a0, retail_price\nA-1,Shirt,1\n"))["created"] == 1
    )


# --- Messages -------------------------------------------------------------------------------------


def test_each_sentence_about_a_row_with_two_faults_names_its_column(acme, ran):
    job = ran(acme, data=["sku,title,retail_price,weight,upc", "A-1,Shirt,cheap,heavy,123"])

    message = job["errors"][0]["message"]
    assert "retail_price: 'cheap': is not a number" in message
    assert "weight: 'heavy': is not a number" in message
    assert "upc: '123': is not a number of 12 digits" in message


def test_all_columns_that_are_missing_are_named_at_once(acme, upload, ran, stocked):
    job = stocked(
        acme, "Artikel;Menge;Lager\nA-1;5;1\n", id_field="sku", amount_field="qty", warehouse_field="Lager"
    )

    assert (job["status"], job["error"]["code"]) == ("failed", "missing_column")
    assert "'sku' and 'qty', which every row needs; it has Artikel, Menge, Lager." in job["error"]["message"]

    job = ran(acme, data=["model,Titel,weight", "A,Shirt,1"])
    assert "'sku', which every row needs; it has model, Titel, weight." in job["error"]["message"]
    assert "New rows also need 'retail_price' and 'title'." in job["error"]["message"]


@pytest.mark.parametrize(
    ("encoding", "label"),
    [("cp1252", "Windows-1252"), ("utf-16-le", "UTF-16"), ("utf-8", ""), ("utf-8-sig", ""), ("utf-16", "")],
)
def test_a_guess_at_the_encoding_is_a_warning(acme, upload, ran, encoding, label):
    job = ran(acme, file_url=upload(acme, f"{HEADER}\nA-1,Größe,1,x\n".encode(encoding)))

    assert [f"it was read as {label}." in each for each in job["warnings"]] == ([True] if label else [])


def test_a_bad_last_row_of_a_key_names_the_skipped_rows(acme, ran):
    rows = ["A-1,First,1", "A-2,Hat,2", "A-1,Second,2", "A-1,Third,cheap"]

    job = ran(acme, data=["sku,title,retail_price", *rows])

    assert (job["created"], job["duplicates"], job["rejected"]) == (1, 2, 1)
    assert job["errors"][0]["message"].endswith(
        "It is the last row of its key; these earlier lines were skipped: 2, 4."
    )


# --- Numbers that a spreadsheet has rounded -----------------------------------------------------------


def test_a_sku_that_a_spreadsheet_has_rounded_is_no_new_variant(acme, ran):
    rows = ['"4,00638E+12",Lamp,5,', "4.00638e+12,Lamp,5,", "4E+12-L,Lamp,5,", "E+12,Lamp,5,"]

    job = ran(acme, data=[HEADER, *rows])

    assert faults(job) == [(2, "sku", "damaged_text"), (3, "sku", "damaged_text")]
    assert job["errors"][0]["message"].startswith("'4,00638E+12': was rounded by a spreadsheet;")
    assert set(Variant.objects.values_list("sku", flat=True)) == {"4E+12-L", "E+12"}


def test_a_formula_that_failed_gives_no_variant_and_no_group(acme, ran):
    header = "sku,title,retail_price,model"

    job = ran(acme, data=[header, "#N/A,Hat,5,", "A-1,Hat,5,#ref!", "#1,Hat,5,#N/A-2", "A-2,#N/A,5,"])

    assert faults(job) == [(2, "sku", "invalid"), (3, "model", "invalid")]
    assert job["errors"][0]["message"] == (
        "'#N/A': is the error of a spreadsheet formula. Correct the formula."
    )
    assert set(Variant.objects.values_list("sku", flat=True)) == {"#1", "A-2"}


def test_cells_are_quoted_exactly_as_in_the_file(acme, ran):
    job = ran(acme, data=[HEADER, "A-1,Lamp,'19\\90,"])

    assert job["errors"][0]["message"] == "''19\\90': is not a number such as 19.99."


def test_a_wrong_character_below_a_long_column_name_rejects_its_row_only(acme, ran):
    job = ran(acme, data=[f"sku,title,retail_price,{'x' * 250}", "A-1,Tie,1,a\x01b", "A-2,Hat,1,fine"])

    assert (job["created"], job["rejected"]) == (1, 1)
    assert job["errors"][0]["code"] == "control"


def test_capitalize_begins_each_word_after_any_white_space(acme, ran):
    title = {"source_field": "title", "destination_field": "title", "string_transformer": "capitalize"}
    ran(
        acme,
        data=["sku,title,retail_price", '"A-1","red  shirt\nblue éclair\tof\u00a0silk",1'],
        schema=[title],
    )

    assert Variant.objects.get().title == "Red  Shirt\nBlue Éclair\tOf\u00a0Silk"
