import JSONText
import Testing

@testable import repairminder_sync

@Suite("Files to import")
struct ImportSourceTests {
    private let source: ImportSource

    init() throws {
        let shape = try JSONText(
            parsing: #"""
                {"key":"id","fields":[{"name":"id","type":"string"},{"name":"total","type":"money"},
                {"name":"notes","type":"string"},{"name":"urgent","type":"boolean"}]}
                """#)
        source = ImportSource(shape: EntityShape(shape))
    }

    @Test("CSV cells may have quotes, commas and line breaks, and each row knows its line")
    func cells() throws {
        let rows = try CSVReader.rows(Array("a,b\r\n\"x,\"\"y\"\"\nz\",2\r\n\r\n3,\n".utf8))
        #expect(
            rows == [
                CSVReader.Row(line: 1, cells: ["a", "b"]), CSVReader.Row(line: 2, cells: ["x,\"y\"\nz", "2"]),
                CSVReader.Row(line: 5, cells: ["3", ""]),
            ])
        #expect(try CSVReader.rows(Array("\u{FEFF}a".utf8)) == [CSVReader.Row(line: 1, cells: ["a"])])
        for text in ["a\n\"b", "\"a\"b"] {
            #expect(throws: CommandFailure.self) { _ = try CSVReader.rows(Array(text.utf8)) }
        }
    }

    @Test("CSV in another encoding is refused, so that no letter is replaced")
    func encoding() throws {
        for (bytes, words) in [
            (Array("id,notes\n1,M".utf8) + [0xFC] + Array("ller\n".utf8), "line 2: the text is not UTF-8"),
            (Array("id\n\"".utf8) + [0x80] + Array("\"\n".utf8), "line 2: the text is not UTF-8"),
            ([0xFF, 0xFE, 0x69, 0, 0x64, 0], "the file is in UTF-16"),
            ([0xFE, 0xFF, 0, 0x69], "the file is in UTF-16"),
            (Array("PK\u{3}\u{4}".utf8) + [0x14, 0], "the file is an Excel workbook or another archive"),
            ([0x1F, 0x8B, 8, 0], "the file is compressed"),
        ] {
            let failure = #expect(throws: CommandFailure.self) { try CSVReader.rows(bytes) }
            #expect(failure?.status == .badData && failure?.message == "\(words); save it as CSV in UTF-8")
        }
    }

    @Test("a file whose cells are separated by semicolons or tabs is refused with what to do", arguments: [";", "\t"])
    func separator(_ text: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try source.csv(Array("id\(text)total\n1\(text)2\n".utf8)) }
        let name = text == ";" ? "semicolons" : "tabs"
        #expect(
            failure?.message == "line 1: cells are separated by \(name); save the file as CSV with commas")
    }

    @Test("a row of more than 16 MiB is refused, and a quote that is not closed takes no more than that")
    func huge() throws {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: CSVReader.largestRow + 1)
        for start in ["id\n\"", "id\nx,"] {
            let failure = #expect(throws: CommandFailure.self) { try CSVReader.rows(Array(start.utf8) + text) }
            #expect(failure?.message.hasPrefix("line 2: the row has more than 16 MiB") == true)
        }
        let rows = source.ndjson(Array("{\"id\":\"1\"}\n".utf8) + text)
        #expect(rows.map(\.problem) == [nil, "it has more than 16 MiB"])
    }

    @Test("cells have the types of their fields; empty ones and members of the daemon are left out")
    func types() throws {
        let rows = try source.csv(Array("id,total,notes,urgent,_sync\n7,12.50,12,true,x\n8,,'=1+1,maybe,\n9\n".utf8))
        #expect(
            JSONText.object(members: rows[0].fields).text == #"{"id":"7","total":12.50,"notes":"12","urgent":true}"#)
        #expect(JSONText.object(members: rows[1].fields).text == #"{"id":"8","notes":"=1+1","urgent":"maybe"}"#)
        #expect(rows[2].line == 4 && rows[2].problem == "it has 1 cells, and the first line 5")
        let failure = #expect(throws: CommandFailure.self) { _ = try source.csv(Array("id,colour\n".utf8)) }
        #expect(failure?.message.contains("there is no field colour. The fields are id, total") == true)
        let other = #expect(throws: CommandFailure.self) { _ = try source.csv(Array("ID,Notes\n".utf8)) }
        #expect(other?.message.hasPrefix("line 1: there is no field ID; did you mean id? The fields are") == true)
    }

    @Test("a header that ends in a comma is refused for its column without a name")
    func unnamedColumn() {
        let failure = #expect(throws: CommandFailure.self) { try source.csv(Array("id,total,\n7,1,\n".utf8)) }
        #expect(failure?.message == "line 1: a column has no name; name it, or delete it")
    }

    @Test("a row of nothing but empty cells, as spreadsheets write below the last record, is no record")
    func emptyRows() throws {
        let rows = try source.csv(Array("id,total,notes\r\n7,1,\r\n,,\r\n\"\",,\r\n8,2,x\r\n,,\r\n".utf8))
        #expect(rows.map(\.line) == [2, 5])
    }

    @Test("NDJSON has a row for each line that is not empty, and a line that is no object is reported with its number")
    func lines() {
        let rows = source.ndjson(Array("{\"id\":\"a\",\"_sync\":{}}\n\n[1]\n{bad\n".utf8))
        #expect(rows.map(\.line) == [1, 3, 4])
        #expect(rows[0].fields.map(\.key) == ["id"] && rows[0].problem == nil)
        #expect(rows[1].problem == "expected a JSON object")
        #expect(rows[2].problem?.hasPrefix("not JSON") == true)
    }

    @Test("a JSON list, or objects of several lines, are refused as a whole with how to write one object a line")
    func wholeDocuments() throws {
        for (text, words) in [
            ("[{\"id\":1}]", "the file is a JSON list; import reads one object a line, as jq -c '.[]' FILE writes"),
            ("\u{FEFF}\n[\n  {}\n]", "the file is a JSON list; "),
            ("{\n  \"id\": \"a\"\n}\n", "the file has JSON objects of several lines; import reads one object a line"),
        ] {
            let failure = #expect(throws: CommandFailure.self) { try source.lines(Array(text.utf8)) }
            #expect(failure?.status == .badData && failure?.message.hasPrefix(words) == true, "\(text)")
            #expect(ImportSource.isJSON(Array(text.utf8)))
        }
        #expect(!ImportSource.isJSON(Array("\u{FEFF}id,notes\n".utf8)))
    }

    @Test("a byte order mark is no part of the first object")
    func mark() throws {
        let rows = try source.lines(Array("\u{FEFF}{\"id\":\"a\"}\n{\"id\":\"b\"}\n".utf8))
        #expect(rows.map(\.problem) == [nil, nil] && rows.map(\.line) == [1, 2])
    }
}
