import ArgumentParser
import JSONText
import LocalAPI

/// A field and its value on the command line: `field=text`, or `field:=json` for any other type.
struct FieldArgument: Equatable {
    var name: String
    var value: JSONText
    var isText: Bool

    init(_ argument: String) throws(CommandFailure) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else {
            throw CommandFailure(.usage, "\(argument): expected field=text or field:=json")
        }
        let name = argument[..<equals]
        let value = String(argument[argument.index(after: equals)...])
        isText = !name.hasSuffix(":")
        self.name = String(isText ? name : name.dropLast())
        guard !self.name.isEmpty else {
            throw CommandFailure(.usage, "\(argument): the field has no name; expected field=text or field:=json")
        }
        do {
            self.value = isText ? .string(value) : try JSONText(parsing: value)
        } catch {
            throw CommandFailure(.usage, "\(argument): \(error); to set text, write \(self.name)=text")
        }
    }

    /// The fields as one JSON object; each may appear once.
    static func object(_ arguments: [String]) throws(CommandFailure) -> JSONText {
        var members: [(key: String, value: JSONText)] = []
        for argument in arguments {
            let field = try FieldArgument(argument)
            guard !members.contains(where: { $0.key == field.name }) else {
                throw CommandFailure(.usage, "\(field.name) is given twice")
            }
            members.append((field.name, field.value))
        }
        return .object(members: members)
    }

    /// Converts `field=value` filters to the query of a list.
    static func query(_ filters: [String]) throws(ValidationError) -> LocalAPIClient.Query {
        var query: LocalAPIClient.Query = []
        for filter in filters {
            guard let equals = filter.firstIndex(of: "="), equals > filter.startIndex else {
                throw ValidationError("\(filter): expected a filter such as status=ready")
            }
            query.append((String(filter[..<equals]), String(filter[filter.index(after: equals)...])))
        }
        return query
    }
}
