internal import Glibc

/// Reads rows directly from the pages of a database file and its log, without anything that SQLite needs to find them
/// (SQLite's file format, 1.6 and 2.1).
///
/// For a file that SQLite cannot read completely. It also finds deleted rows, because a free page keeps its old
/// content: the caller must decide which rows still count.
struct PageScan {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case text(String)
        case other
    }

    struct Row {
        var id: Int64
        /// The first, the column of the id itself, is null.
        var values: [Value]
    }

    private static let pageSize = 4096
    private let file: ScannedFile
    private let log: ScannedFile?
    /// Page number → the position of its newest version in the log.
    private var inLog: [Int: Int] = [:]

    /// Nil if the file cannot be read. `read` is for tests of a disk that cannot read everything.
    init?(path: String, withLog: Bool, read: @escaping ScannedFile.Read = { pread($0, $1, $2, $3) }) {
        guard let file = ScannedFile(path: path, read: read) else { return nil }
        self.file = file
        log = withLog ? ScannedFile(path: path + "-wal", read: read) : nil
        indexLog()
    }

    /// The number of the database whose first page is in the log; nil if there is none, or the log has another format.
    var markOfLog: Int32? {
        guard let offset = inLog[1], let mark = log?.bytes(at: offset + 68, count: 4) else { return nil }
        return Int32(truncatingIfNeeded: mark.integer(at: 0, bytes: 4))
    }

    /// Calls `body` with every row whose number of columns is in `columns` and whose first column is its id, so that its
    /// value is null.
    func forEachRow(columns: ClosedRange<Int>, _ body: (Row) -> Void) {
        forEachPage { number, page in
            for offset in cells(of: page, isFirst: number == 1) {
                if let row = row(at: offset, in: page, columns) { body(row) }
            }
        }
    }

    // MARK: Pages

    /// Calls `body` with the pages that can be read, in their order, but for those in holes of the file.
    private func forEachPage(_ body: (_ number: Int, _ page: [UInt8]) -> Void) {
        var logged = inLog.keys.filter { $0 > 0 }.sorted()[...]
        var last = 0
        while true {
            let inFile = file.data(from: last * Self.pageSize).map { $0 / Self.pageSize + 1 }
            guard let number = [inFile, logged.first].compactMap(\.self).min() else { return }
            if number == logged.first { logged.removeFirst() }
            last = number
            if let page = page(number) { body(number, page) }
        }
    }

    /// Indexes the frames up to the last commit, as long as they have the salt of the log's header. One whose header the
    /// disk cannot read is passed over: which page it has is unknown, and a later commit includes it.
    private mutating func indexLog() {
        let (header, frame) = (32, 24)
        guard let log, let salt = log.bytes(at: 16, count: 8) else { return }
        var (offset, pending) = (header, [Int: Int]())
        while offset + frame + Self.pageSize <= log.size {
            defer { offset += frame + Self.pageSize }
            guard let start = log.bytes(at: offset, count: frame) else { continue }
            let page = start.integer(at: 0, bytes: 4)
            // No page is the 0th: a hole in a log whose salt is 0 has such frames without end.
            guard start[8..<16] == salt[...], page > 0 else { return }
            pending[page] = offset + frame
            if start.integer(at: 4, bytes: 4) != 0 {
                inLog.merge(pending) { $1 }
                pending = [:]
            }
        }
    }

    private func page(_ number: Int) -> [UInt8]? {
        if let offset = inLog[number] { return log?.bytes(at: offset, count: Self.pageSize) }
        return file.bytes(at: (number - 1) * Self.pageSize, count: Self.pageSize)
    }

    /// The possible starts of rows: the cell pointers of a table leaf page; any offset if the page is no longer one.
    private func cells(of page: [UInt8], isFirst: Bool) -> [Int] {
        let header = isFirst ? 100 : 0
        let count = page.integer(at: header + 3, bytes: 2)
        guard page[header] == 0x0D, header + 8 + 2 * count <= page.count else {
            // Pages of other kinds, and torn pages.
            return [0x02, 0x05, 0x0A].contains(page[header]) ? [] : Array(0..<page.count)
        }
        let cells = (0..<count).map { page.integer(at: header + 8 + 2 * $0, bytes: 2) }
        return cells.allSatisfy { $0 >= header + 8 + 2 * count && $0 < page.count } ? cells : Array(0..<page.count)
    }

    // MARK: Rows

    private func row(at offset: Int, in page: [UInt8], _ columns: ClosedRange<Int>) -> Row? {
        var offset = offset
        guard let size = page.varint(at: &offset), let id = page.varint(at: &offset), size > columns.lowerBound,
            size < 16 << 20, id > 0, beginsWithNull(at: offset, in: page),
            let payload = payload(Int(size), at: offset, in: page)
        else { return nil }
        return values(payload, columns).map { Row(id: id, values: $0) }
    }

    /// Whether the first column of a payload is null. This rules out nearly every place in a long text.
    private func beginsWithNull(at offset: Int, in page: [UInt8]) -> Bool {
        var offset = offset
        // The size of the header, then the type of the first column.
        return page.varint(at: &offset) != nil && page.varint(at: &offset) == 0
    }

    /// A long payload continues in a chain of overflow pages.
    private func payload(_ size: Int, at offset: Int, in page: [UInt8]) -> [UInt8]? {
        let usable = Self.pageSize
        guard size > usable - 35 else { return offset + size <= page.count ? Array(page[offset..<offset + size]) : nil }
        let least = (usable - 12) * 32 / 255 - 23
        let some = least + (size - least) % (usable - 4)
        let local = some <= usable - 35 ? some : least
        guard offset + local + 4 <= page.count else { return nil }
        var payload = Array(page[offset..<offset + local])
        var next = page.integer(at: offset + local, bytes: 4)
        while payload.count < size {
            guard let overflow = self.page(next) else { return nil }
            payload += overflow[4..<4 + min(usable - 4, size - payload.count)]
            next = overflow.integer(at: 0, bytes: 4)
        }
        return payload
    }

    private func values(_ payload: [UInt8], _ columns: ClosedRange<Int>) -> [Value]? {
        var offset = 0
        guard let headerSize = payload.varint(at: &offset), headerSize > columns.lowerBound, headerSize <= payload.count
        else { return nil }
        var types: [Int64] = []
        while offset < headerSize {
            guard let type = payload.varint(at: &offset), type >= 0, types.count < columns.upperBound else {
                return nil
            }
            types.append(type)
        }
        guard columns.contains(types.count) else { return nil }
        var values: [Value] = []
        for type in types {
            guard let value = value(of: type, in: payload, at: &offset) else { return nil }
            values.append(value)
        }
        return offset == payload.count ? values : nil
    }

    private func value(of type: Int64, in payload: [UInt8], at offset: inout Int) -> Value? {
        let size = type >= 12 ? Int(type - 12) / 2 : [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, -1, -1][Int(type)]
        guard size >= 0, offset + size <= payload.count else { return nil }
        defer { offset += size }
        switch type {
        case 0: return .null
        case 1...6: return .integer(payload.signed(at: offset, bytes: size))
        case 8, 9: return .integer(type - 8)
        case 13... where type % 2 == 1:
            return String(validating: payload[offset..<offset + size], as: UTF8.self).map(Value.text)
        default: return .other
        }
    }
}

extension [UInt8] {
    /// Big-endian, like all numbers in a database file.
    fileprivate func integer(at offset: Int, bytes: Int) -> Int {
        (0..<bytes).reduce(0) { $0 << 8 | Int(self[offset + $1]) }
    }

    fileprivate func signed(at offset: Int, bytes: Int) -> Int64 {
        let bits = UInt64(bytes) * 8
        let raw = (0..<bytes).reduce(UInt64(0)) { $0 << 8 | UInt64(self[offset + $1]) }
        return Int64(bitPattern: raw << (64 - bits)) >> Int64(64 - bits)
    }

    /// Reads a number of seven bits a byte, at most nine bytes, and moves `offset` past it.
    fileprivate func varint(at offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset < count else { return nil }
            let byte = self[offset]
            offset += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
