import ArgumentParser
import JSONText
import LocalAPI

/// A field with its value as the command line has it: `field=text`, or `field:=json` for anything else.
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
            throw CommandFailure(.usage, "\(argument): \(error); text is written as \(self.name)=text")
        }
    }

    /// The fields as one JSON object; each may be named once.
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

    /// Filters, `field=value`, as the query of a list.
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
