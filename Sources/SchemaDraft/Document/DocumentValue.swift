/// One value of a document, from JSON or YAML: numbers keep their spelling, objects their order.
package indirect enum DocumentValue: Sendable, Equatable {
    case object(DocumentObject)
    case array([DocumentValue])
    /// `isPlain`: it stands without quotes, so it may be a number, a boolean or null.
    case scalar(String, isPlain: Bool)

    package static let null = DocumentValue.scalar("null", isPlain: true)

    /// The member of this name; nil for any other kind of value.
    package subscript(name: String) -> DocumentValue? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    /// Empty for any other kind of value.
    var members: [(name: String, value: DocumentValue)] {
        if case .object(let object) = self { object.members } else { [] }
    }

    /// Empty for any other kind of value.
    var elements: [DocumentValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    var isObject: Bool { if case .object = self { true } else { false } }

    /// Any scalar but null, as text.
    var text: String? {
        guard case .scalar(let text, _) = self, !isNull else { return nil }
        return text
    }

    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = self else { return false }
        return ["null", "~", "", "Null", "NULL"].contains(text)
    }

    /// As YAML 1.1 writes it, without quotes.
    var boolean: Bool? {
        guard case .scalar(let text, isPlain: true) = self else { return nil }
        return switch text.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    /// A whole number that fits, however it is written.
    var integer: Int? {
        guard let text else { return nil }
        if let number = Int(text) { return number }
        guard let number = Double(text), number.rounded() == number, abs(number) < 1e15 else { return nil }
        return Int(number)
    }
}

/// An object in the order of the document. Of several members of one name, the first counts.
package struct DocumentObject: Sendable, Equatable {
    let members: [(name: String, value: DocumentValue)]
    /// Only for large objects: a search through a few members is faster.
    private let places: [String: Int]

    init(_ members: [(name: String, value: DocumentValue)]) {
        self.members = members
        guard members.count > 16 else {
            places = [:]
            return
        }
        places = Dictionary(members.indices.map { (members[$0].name, $0) }) { first, _ in first }
    }

    subscript(name: String) -> DocumentValue? {
        if members.count > 16 { return places[name].map { members[$0].value } }
        return members.first { $0.name == name }?.value
    }

    package static func == (one: DocumentObject, other: DocumentObject) -> Bool {
        one.members.count == other.members.count
            && zip(one.members, other.members).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    }
}
