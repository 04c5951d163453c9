/// Reads CSV (RFC 4180): quoted cells may contain commas, quotes and line breaks. LF alone ends a line, too.
struct CSVReader {
    struct Row: Equatable {
        /// The line on which it begins, from 1.
        var line: Int
        var cells: [String]
    }

    /// The largest row, in bytes: much more than a record may have, and less than a file whose quote is not closed.
    static let largestRow = 16 << 20

    /// A byte order mark in UTF-8, by which Excel knows the encoding.
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// What files of other kinds begin with.
    private static let others: [(start: [UInt8], kind: String)] = [
        ([0xFF, 0xFE], "in UTF-16"), ([0xFE, 0xFF], "in UTF-16"),
        ([0x50, 0x4B, 0x03, 0x04], "an Excel workbook or another archive"),
        ([0xD0, 0xCF, 0x11, 0xE0], "an Excel workbook"), ([0x1F, 0x8B], "compressed"),
    ]

    /// Throws when a quote is not closed, text follows one, a row is too long, or the text is not UTF-8.
    static func rows(_ bytes: [UInt8]) throws(CommandFailure) -> [Row] {
        if let other = others.first(where: { bytes.starts(with: $0.start) }) {
            throw CommandFailure(.badData, "the file is \(other.kind); \(way)")
        }
        var reader = CSVReader(bytes: bytes[...])
        // It is no part of the first name.
        if bytes.starts(with: mark) { reader.bytes = bytes[3...] }
        var rows: [Row] = []
        while let row = try reader.row() {
            if row.cells != [""] { rows.append(row) }
        }
        return rows
    }

    private var bytes: ArraySlice<UInt8>
    private var line = 1
    /// Where the row ends at the latest.
    private var limit = 0

    private init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// Nil at the end.
    private mutating func row() throws(CommandFailure) -> Row? {
        guard !bytes.isEmpty else { return nil }
        let first = line
        limit = bytes.startIndex + Self.largestRow
        var cells: [String] = []
        while true {
            cells.append(try cell())
            guard bytes.startIndex <= limit else { throw Self.tooLong(first) }
            switch bytes.popFirst() {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "\r"):
                if bytes.first == UInt8(ascii: "\n") { bytes.removeFirst() }
            default: break
            }
            line += 1
            return Row(line: first, cells: cells)
        }
    }

    private mutating func cell() throws(CommandFailure) -> String {
        guard bytes.first == UInt8(ascii: "\"") else {
            let text = bytes.prefix { !",\r\n".utf8.contains($0) }
            bytes = bytes.dropFirst(text.count)
            return try Self.text(text, line)
        }
        let begin = line
        bytes.removeFirst()
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "\n") { line += 1 }
            guard byte == UInt8(ascii: "\"") else {
                text.append(byte)
                guard bytes.startIndex <= limit else { throw Self.tooLong(begin) }
                continue
            }
            if bytes.first == UInt8(ascii: "\"") {
                text.append(bytes.removeFirst())
                continue
            }
            guard bytes.first.map({ ",\r\n".utf8.contains($0) }) ?? true else {
                throw CommandFailure(
                    .badData, "line \(line): text follows a closing quote; inside a cell, write each quote twice")
            }
            return try Self.text(text[...], begin)
        }
        throw CommandFailure(
            .badData, "line \(begin): a quote is not closed; close it, or write it twice inside quotes")
    }

    private static let way = "save it as CSV in UTF-8"

    /// The text of a cell that begins on this line.
    private static func text(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(CommandFailure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.badData, "line \(line): the text is not UTF-8; \(way)")
        }
        return text
    }

    private static func tooLong(_ line: Int) -> CommandFailure {
        CommandFailure(
            .badData, "line \(line): the row has more than \(largestRow >> 20) MiB; close its quotes, or leave it out")
    }
}
