import CZlib
import Foundation
import JSONText
import ReferenceUpstream
import Testing

@Suite("Loading records from files")
struct NDJSONLoaderTests {
    /// A folder that is removed with the test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "ndjson-\(UUID().uuidString)").path

        init(_ files: [String: String]) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in files { try write(name, Array(text.utf8)) }
        }

        func write(_ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
        }

        func pack(_ name: String, _ text: String) throws {
            let file = try #require(gzopen("\(path)/\(name)", "wb"))
            let bytes = Array(text.utf8)
            #expect(gzwrite(file, bytes, UInt32(bytes.count)) == bytes.count)
            #expect(gzclose(file) == Z_OK)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func load(_ folder: Folder) throws -> [String: [JSONText]] {
        try NDJSONLoader(schema: TestSchema.repairminder()).load(folder: folder.path)
    }

    private func complaint(_ folder: Folder) throws -> String {
        let error = try #require(throws: LoadError.self) { try load(folder) }
        return error.description
    }

    @Test("plain and compressed files are read, children too, each line byte for byte")
    func reads() throws {
        let folder = try Folder(["orders.ndjson": "{\"id\":\"a\", \"total\":129.90}\n\n{\"id\":7}", "README.md": "no"])
        try folder.pack("ticket_messages.ndjson.gz", "{\"id\":\"m\",\"x\":1e-400}\r\n")
        let records = try load(folder)
        #expect(records["orders"]?.map(\.text) == ["{\"id\":\"a\", \"total\":129.90}", "{\"id\":7}"])
        #expect(records["ticket_messages"]?.map(\.text) == ["{\"id\":\"m\",\"x\":1e-400}"])
        #expect(records["tickets"] == nil)
    }

    @Test("a compressed file of many lines is read completely")
    func long() throws {
        let folder = try Folder([:])
        try folder.pack(
            "orders.ndjson.gz", (0..<50_000).map { "{\"id\":\"\($0)\",\"notes\":\"xxxxxxxxxx\"}\n" }.joined())
        #expect(try load(folder)["orders"]?.count == 50_000)
    }

    @Test(
        "an invalid line is rejected with its file and number",
        arguments: [
            ("{\"id\":\"b\"", "not JSON"), ("[1]", "JSON object"), ("{\"total\":1}", "id is missing"),
            ("{\"id\":null}", "id is missing"), ("{\"id\":\"\"}", "id is missing"),
            ("{\"id\":\"a\"}", "already in line 1"),
            ("{\"id\":\"b\"}x", "text after the value"),
        ])
    func broken(_ line: String, _ problem: String) throws {
        let folder = try Folder(["orders.ndjson": "{\"id\":\"a\"}\n\n\(line)\n"])
        let complaint = try complaint(folder)
        #expect(complaint.hasPrefix("\(folder.path)/orders.ndjson:3: "))
        #expect(complaint.contains(problem))
    }

    @Test("a truncated or damaged compressed file is rejected")
    func damaged() throws {
        let folder = try Folder([:])
        try folder.pack("orders.ndjson.gz", (0..<2000).map { "{\"id\":\"\($0)\"}\n" }.joined())
        let packed = try Data(contentsOf: URL(filePath: "\(folder.path)/orders.ndjson.gz"))
        try folder.write("orders.ndjson.gz", Array(packed.prefix(packed.count / 2)))
        #expect(try complaint(folder).contains("orders.ndjson.gz is damaged or truncated"))
        var bytes = Array(packed)
        bytes[bytes.count / 2] ^= 0xFF
        try folder.write("orders.ndjson.gz", bytes)
        #expect(try complaint(folder).contains("orders.ndjson.gz is damaged or truncated"))
    }

    @Test("a folder that is missing, empty, or has records of an unknown entity is rejected")
    func folders() throws {
        #expect(try complaint(Folder([:])).contains("no file such as clients.ndjson"))
        #expect(try complaint(Folder(["order.ndjson": ""])).contains("no entity order"))
        let twice = try Folder(["orders.ndjson": ""])
        try twice.pack("orders.ndjson.gz", "")
        #expect(try complaint(twice).contains("both compressed and uncompressed"))
        #expect(throws: LoadError.self) { try NDJSONLoader(schema: TestSchema.repairminder()).load(folder: "/no/such") }
    }
}
