import JSONText
import LocalAPI

/// A field and its value on the command line: `field=text`, or `field:=json` for any other type. A value that begins with
/// `@` names a file that has it, unless another `@` follows.
struct FieldArgument: Equatable {
    /// Where the value is.
    enum Source: Equatable {
        case text(String)
        case json(JSONText)
        /// `-` for standard input.
        case textOfFile(String)
        case jsonOfFile(String)
    }

    var name: String
    var source: Source

    init(_ argument: String) throws(CommandFailure) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else {
            throw CommandFailure(.usage, "\(argument): expected field=text or field:=json")
        }
        let name = argument[..<equals]
        let value = String(argument[argument.index(after: equals)...])
        let isText = !name.hasSuffix(":")
        self.name = String(isText ? name : name.dropLast())
        guard !self.name.isEmpty else {
            throw CommandFailure(.usage, "\(argument): the field has no name; expected field=text or field:=json")
        }
        if let file = try Self.file(value, argument) {
            source = isText ? .textOfFile(file) : .jsonOfFile(file)
        } else if isText {
            source = .text(value.hasPrefix("@@") ? String(value.dropFirst()) : value)
        } else {
            do {
                source = .json(try JSONText(parsing: value))
            } catch {
                throw CommandFailure(.usage, "\(argument): \(error); to set text, write \(self.name)=text")
            }
        }
    }

    /// The file that a value names; nil if it is the value itself.
    private static func file(_ value: String, _ argument: String) throws(CommandFailure) -> String? {
        guard value.hasPrefix("@"), !value.hasPrefix("@@") else { return nil }
        guard value.count > 1 else {
            throw CommandFailure(.usage, "\(argument): expected a file after @; @- is standard input, @@ the text @")
        }
        return String(value.dropFirst())
    }

    /// The file that has the value; nil if the argument has it.
    var file: String? {
        switch source {
        case .textOfFile(let file), .jsonOfFile(let file): file
        case .text, .json: nil
        }
    }

    /// The value, with `read` for a file.
    func value(_ read: (String) throws(CommandFailure) -> [UInt8]) throws(CommandFailure) -> JSONText {
        switch source {
        case .text(let text): return .string(text)
        case .json(let json): return json
        case .textOfFile(let file):
            let name = ValueFile.name(file)
            guard let text = String(validating: try read(file), as: UTF8.self) else {
                throw CommandFailure(.badData, "\(self.name): \(name) is not UTF-8 text")
            }
            return .string(ValueFile.withoutLineEnd(text))
        case .jsonOfFile(let file):
            let bytes = try read(file)
            do {
                return try JSONText(bytes)
            } catch {
                // What the file has may be a secret.
                throw CommandFailure(
                    .badData, "\(name): \(ValueFile.name(file)) is not JSON; for text, write \(name)=@\(file)")
            }
        }
    }

    /// The fields as one JSON object; each may appear once, and standard input too.
    static func object(
        _ arguments: [String], read: (String) throws(CommandFailure) -> [UInt8] = ValueFile.bytes
    ) throws(CommandFailure) -> JSONText {
        var fields: [FieldArgument] = []
        for argument in arguments {
            let field = try FieldArgument(argument)
            guard !fields.contains(where: { $0.name == field.name }) else {
                throw CommandFailure(.usage, "\(field.name) is given twice; give it once")
            }
            fields.append(field)
        }
        guard fields.count(where: { $0.file == ValueFile.standardInput }) < 2 else {
            throw CommandFailure(.usage, "only one field can be read from standard input; read the others from files")
        }
        var members: [(key: String, value: JSONText)] = []
        for field in fields { members.append((field.name, try field.value(read))) }
        return .object(members: members)
    }

    /// Converts `field=value` filters to the query of a list. Call it when the command runs, not in `validate`: the parser reports
    /// a mistyped flag only after that, and takes the flag's value for a filter.
    static func query(_ filters: [String]) throws(CommandFailure) -> LocalAPIClient.Query {
        var query: LocalAPIClient.Query = []
        for filter in filters {
            guard let equals = filter.firstIndex(of: "="), equals > filter.startIndex else {
                throw CommandFailure(.usage, "\(filter): expected a filter such as status=ready or total.gte=100")
            }
            query.append((String(filter[..<equals]), String(filter[filter.index(after: equals)...])))
        }
        return query
    }
}
