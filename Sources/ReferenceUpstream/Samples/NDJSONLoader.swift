internal import CZlib
package import EntitySchema
internal import Foundation
package import JSONText

/// Records that cannot be loaded.
package enum LoadError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A missing or damaged file or folder.
    case unreadable(String)
    /// A file that does not belong to the schema, or a line that is not a record; the message names file and line.
    case invalid(String)

    package var description: String {
        switch self {
        case .unreadable(let message), .invalid(let message): message
        }
    }
}

/// Loads records from a folder with a file of JSON lines for each entity: `<entity>.ndjson` or `<entity>.ndjson.gz`.
///
/// Each line must be an object with a unique key. Everything else in it is accepted unchanged, because an upstream's
/// records may differ from the schema. Empty lines are skipped. An entity without a file has no records.
package struct NDJSONLoader: Sendable {
    private let schema: EntitySchema

    package init(schema: EntitySchema) { self.schema = schema }

    package func load(folder: String) throws(LoadError) -> [String: [JSONText]] {
        var records: [String: [JSONText]] = [:]
        for file in try files(in: folder) {
            let name = String(file.prefix { $0 != "." })
            guard let entity = schema[name] else {
                throw .invalid(
                    "\(folder)/\(file): the schema \(schema.name) has no entity \(name); expected one of "
                        + schema.entities.map(\.name).joined(separator: ", "))
            }
            guard records[name] == nil else {
                throw .invalid("\(folder): \(name).ndjson exists both compressed and uncompressed; remove one of them")
            }
            records[name] = try read("\(folder)/\(file)", entity)
        }
        guard !records.isEmpty else {
            throw .unreadable("\(folder) has no file such as \(schema.entities[0].name).ndjson or …ndjson.gz")
        }
        return records
    }

    private func files(in folder: String) throws(LoadError) -> [String] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return names.filter { $0.hasSuffix(".ndjson") || $0.hasSuffix(".ndjson.gz") }.sorted()
        } catch {
            throw .unreadable("\(folder) cannot be read as a folder; check the path and its permissions")
        }
    }

    /// The records share the memory of their file.
    private func read(_ file: String, _ entity: Entity) throws(LoadError) -> [JSONText] {
        let bytes = try GzipFile.read(file)
        var records: [JSONText] = []
        var lines: [String: Int] = [:]
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            let (record, key) = try record(line, entity, place: "\(file):\(number)")
            if let first = lines.updateValue(number, forKey: key) {
                throw .invalid("\(file):\(number): \(entity.key) \(key) is already in line \(first)")
            }
            records.append(record)
        }
        return records
    }

    private func record(
        _ line: ArraySlice<UInt8>, _ entity: Entity, place: String
    ) throws(LoadError) -> (JSONText, key: String) {
        let record: JSONText
        do {
            record = try JSONText(line)
        } catch {
            throw .invalid("\(place): \(error)")
        }
        guard record.kind == .object else { throw .invalid("\(place): expected one JSON object on the line") }
        guard let key = record[entity.key], key.kind == .string || key.kind == .number, !key.plain.isEmpty else {
            throw .invalid("\(place): \(entity.key) is missing or not text; every record of \(entity.name) needs it")
        }
        return (record, key.plain)
    }
}

/// Reads a whole file, decompressed if it is gzip (RFC 1952).
package enum GzipFile {
    /// Throws with zlib's text when the file cannot be read, is damaged, or is truncated.
    package static func read(_ path: String) throws(LoadError) -> [UInt8] {
        guard let file = gzopen(path, "rb") else {
            throw .unreadable("\(path) cannot be opened; check that it exists")
        }
        gzbuffer(file, 1 << 17)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        var count: Int32
        repeat {
            count = gzread(file, &chunk, UInt32(chunk.count))
            if count > 0 { bytes += chunk[..<Int(count)] }
        } while count > 0
        var code: Int32 = 0
        let problem = gzerror(file, &code).map { String(cString: $0) } ?? ""
        // Closing detects a truncated file, which reading does not.
        let closed = gzclose_r(file)
        guard count == 0, code == Z_OK || code == Z_STREAM_END, closed == Z_OK else {
            throw .unreadable(
                "\(path) is damaged or truncated\(problem.isEmpty ? "" : " (\(problem))"); fetch or create it again")
        }
        return bytes
    }
}
