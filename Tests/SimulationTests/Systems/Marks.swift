import EntitySchema
import JSONText

/// Values that identify the write that set them, in whatever form a server keeps them.
enum Marks {
    /// The text that occurs in every text field that write `number` set.
    static func text(_ number: Int) -> String { "w\(number)." }

    /// A value of the field's type; nil for types that cannot carry a number. `plain`: text without anything that a
    /// server may change.
    static func value(_ number: Int, of field: Field, plain: Bool) -> JSONText? {
        switch field.kind {
        case .string: .string(plain ? text(number) : " \(text(number))  Text ")
        case .integer: .integer(number)
        case .number, .money: try? JSONText(parsing: "\(number).126")
        case .time: .string(time(number))
        case .list: .array(["b", "a"].map { .string("\($0)\(number)") })
        case .object: .object(["number": .integer(number)])
        case .date: .string("\((beginning + .seconds(86_400 * number)).description.prefix(10))")
        case .enum: stages.indices.contains(number + 1) && field.name == stageField ? .string(stages[number + 1]) : nil
        case .boolean, .reference: nil
        }
    }

    /// The field with `stages`, of which the first is that of a record without a mark.
    static let stageField = "stage"
    static let stages = ["none"] + (0...199).map { "s\($0)" }

    /// With milliseconds or without.
    private static func time(_ number: Int) -> String {
        let text = (beginning + .seconds(60 * number) + .milliseconds(17_345)).description
        return number % 2 == 0 ? text : "\(text.dropLast(5))Z"
    }

    /// The number of the write that a value came from; nil for a value of anyone else.
    static func number(of value: JSONText?, _ field: Field) -> Int? {
        guard let value, value != .null else { return nil }
        switch field.kind {
        case .string:
            let rest = value.plain.drop { $0 == " " }
            guard rest.first == "w" else { return nil }
            let digits = rest.dropFirst().prefix { $0.isNumber }
            return rest.dropFirst(digits.count + 1).first == "." ? Int(digits) : nil
        case .integer: return value.integer
        case .number, .money: return Double(value.plain).map { Int($0) }
        case .time:
            guard let time = value.string.flatMap({ Timestamp(iso8601: $0) }), time >= beginning else { return nil }
            return Int(time.since(beginning).milliseconds / 60_000)
        // Sets keep what an earlier write added when its answer was lost.
        case .list: return value.elements.compactMap { Int($0.plain.dropFirst()) }.max()
        case .object: return value["number"]?.integer
        case .date:
            guard let day = field.meant(value).string.flatMap({ Timestamp(iso8601: $0) }), day >= beginning else {
                return nil
            }
            return Int(day.since(beginning).milliseconds / 86_400_000)
        case .enum: return field.name == stageField ? Int(value.plain.dropFirst()) : nil
        case .boolean, .reference: return nil
        }
    }

    /// After all sample times.
    private static let beginning = Timestamp(milliseconds: 1_893_456_000_000)
}
