import EntitySchema
import JSONText

/// The type of a column, and how values become its text.
enum FeedType: String, CaseIterable {
    case text, bigint, numeric, boolean, timestamptz, date, jsonb

    /// Of a field, by the word for its type in a schema.
    init(field word: String) {
        self =
            switch word {
            case "integer": .bigint
            case "number", "money": .numeric
            case "boolean": .boolean
            case "time": .timestamptz
            case "date": .date
            case "object", "list": .jsonb
            default: .text
            }
    }

    /// The value as the column takes it; nil if it does not fit, or there is none. Numbers and booleans may be in quotes.
    func parameter(_ value: JSONText?) -> [UInt8]? {
        guard let value, value.kind != .null else { return nil }
        return switch self {
        case .text: PostgresText.bytes(value.plain)
        case .bigint: Self.integer(value)
        case .numeric: Self.number(value).map { Array($0.bytes) }
        case .boolean: value.truth.map { Array("\($0)".utf8) }
        case .timestamptz: Self.time(value)?.utf8
        case .date: Self.day(value)
        case .jsonb: PostgresJSON.bytes(of: value)
        }
    }

    private static func number(_ value: JSONText) -> JSONText? {
        guard value.kind == .number || value.kind == .string, let number = try? JSONText(parsing: value.plain),
            number.kind == .number, PostgresJSON.isWritable(number: number.bytes)
        else { return nil }
        return number
    }

    /// `5.0` is a whole number too.
    private static func integer(_ value: JSONText) -> [UInt8]? {
        guard let text = number(value)?.text else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && parts[1].allSatisfy({ $0 == "0" }) else { return nil }
        return Int64(parts[0]).map { Array("\($0)".utf8) }
    }

    /// The beginning of the year 1, before which PostgreSQL writes years otherwise.
    private static let earliest = Timestamp(milliseconds: -62_135_596_800_000)

    private static func time(_ value: JSONText) -> Timestamp? {
        value.string.flatMap(Timestamp.init(iso8601:)).flatMap { $0 >= earliest ? $0 : nil }
    }

    private static func day(_ value: JSONText) -> [UInt8]? {
        guard let text = value.string, text.utf8.count == 10, let time = time(value) else { return nil }
        // A day that does not exist would be another one.
        let day = Array(time.utf8.prefix(10))
        return day == Array(text.utf8) ? day : nil
    }
}
