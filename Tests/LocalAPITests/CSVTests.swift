import JSONText
import Testing

@testable import LocalAPI

@Suite struct CSVTests {
    private func row(_ json: String, guarded: Bool = true) throws -> String {
        var bytes: [UInt8] = []
        try CSV(columns: ["id", "a", "b"], guardsFormulas: guarded).append(JSONText(parsing: json), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "values follow the columns' order, numbers are exact, null and missing values empty, and lines end with CRLF"
    )
    func values() throws {
        var header: [UInt8] = []
        CSV(columns: ["id", "a,b"], guardsFormulas: true).appendHeader(to: &header)
        #expect(header == Array("id,\"a,b\"\r\n".utf8))
        #expect(try row(#"{"b":129.90,"id":"x","_sync":{}}"#) == "x,,129.90\r\n")
        #expect(try row(#"{"id":1e400,"a":null,"b":true}"#) == "1e400,,true\r\n")
        #expect(try row(#"{"id":"x","a":{"k":[1,2]},"b":[]}"#) == "x,\"{\"\"k\"\":[1,2]}\",[]\r\n")
    }

    @Test("quotes, commas and line breaks are quoted as in RFC 4180")
    func quoting() throws {
        #expect(
            try row(#"{"id":"a,b","a":"say \"no\"","b":"one\r\ntwo"}"#)
                == "\"a,b\",\"say \"\"no\"\"\",\"one\r\ntwo\"\r\n")
        #expect(try row(#"{"id":"\"\u0301","a":" x ","b":"é"}"#) == "\"\"\"\u{301}\", x ,é\r\n")
    }

    @Test("text that a spreadsheet would run is prefixed with an apostrophe, numbers and telephone numbers are not")
    func formulas() throws {
        #expect(try row(#"{"id":"=1+1","a":"@SUM(A1)","b":"\t=x"}"#) == "'=1+1,'@SUM(A1),'\t'=x\r\n")
        #expect(
            try row(#"{"id":"+44 7700 900-123","a":-5.50,"b":"-2+3+cmd|' /C calc'!A0"}"#)
                == "+44 7700 900-123,-5.50,'-2+3+cmd|' /C calc'!A0\r\n")
        #expect(try row(#"{"id":"=1+1","a":"@x","b":"ok"}"#, guarded: false) == "=1+1,@x,ok\r\n")
    }

    @Test(
        "where a semicolon, a tab or a line break may begin a cell, text that would run is prefixed too",
        arguments: [
            ("x;=cmd|'/C calc'!A0", "x;'=cmd|'/C calc'!A0"), ("x\t=1", "x\t'=1"),
            ("x;-2+cmd|'/C calc'!A0", "x;'-2+cmd|'/C calc'!A0"), ("a;+SUM(B1);b", "a;'+SUM(B1);b"),
            ("@a;=b;=c", "'@a;'=b;'=c"), ("x；＝1", "x；＝1"), ("x;＝1", "x;'＝1"),
        ])
    func parts(_ text: String, _ guarded: String) throws {
        #expect(try row(#"{"id":\#(JSONText.string(text).text)}"#) == "\(guarded),,\r\n")
        #expect(CSV.withoutGuard(guarded) == text)
    }

    @Test(
        "text with an apostrophe of its own before a formula comes back with it",
        arguments: [
            ("'=1", "''=1"), ("''=1", "'''=1"), ("'+1 for this", "''+1 for this"), ("'\t=x", "''\t'=x"),
            ("a;'=b", "a;''=b"), ("'@a;'=b", "''@a;''=b"), ("'", "'"), ("'tis", "'tis"), ("'-5", "'-5"),
            ("a;'b", "a;'b"),
        ])
    func ownApostrophe(_ text: String, _ guarded: String) throws {
        #expect(try row(#"{"id":\#(JSONText.string(text).text)}"#) == "\(guarded),,\r\n")
        #expect(CSV.withoutGuard(guarded) == text)
    }

    @Test(
        "notes keep their lists, names, smileys and numbers",
        arguments: ["a\n- call (Mon)", "a;@Bob ;-) :-|", "a;+44 (0)7"])
    func harmless(_ text: String) throws {
        let cell = text.contains("\n") ? "\"\(text)\"" : text
        #expect(try row(#"{"id":\#(JSONText.string(text).text)}"#) == "\(cell),,\r\n")
    }

    @Test("a column's name, which a compromised daemon chooses, runs no more than a value")
    func header() {
        var (guarded, raw): ([UInt8], [UInt8]) = ([], [])
        CSV(columns: ["id", "=cmd|'x'!A0"], guardsFormulas: true).appendHeader(to: &guarded)
        CSV(columns: ["id", "=cmd|'x'!A0"], guardsFormulas: false).appendHeader(to: &raw)
        #expect(guarded == Array("id,'=cmd|'x'!A0\r\n".utf8))
        #expect(raw == Array("id,=cmd|'x'!A0\r\n".utf8))
    }

    @Test("what would run inside JSON is escaped, so that the value stays the same")
    func json() throws {
        #expect(try row(#"{"id":["x;=1"],"a":["x;-1"]}"#) == #""[""x;\u003d1""]","[""x;-1""]","# + "\r\n")
    }

    @Test("a column that is named twice has its value in both places")
    func twice() throws {
        var bytes: [UInt8] = []
        try CSV(columns: ["a", "a"], guardsFormulas: true).append(JSONText(parsing: #"{"a":1}"#), to: &bytes)
        #expect(bytes == Array("1,1\r\n".utf8))
    }

    @Test("a line of NDJSON is the record's text, whatever its layout")
    func ndjson() throws {
        let record = try JSONText(parsing: "{\"id\": \"a\\nb\",\r\n \"total\": 129.90}")
        var line: [UInt8] = []
        RecordLines.append(record, to: &line)
        #expect(line == Array("{\"id\": \"a\\nb\",   \"total\": 129.90}\n".utf8))
    }
}
