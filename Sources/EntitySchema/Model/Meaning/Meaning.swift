package import JSONText

/// What the values of one entity mean to its server: the kinds of its fields, and the normal forms that it was seen to
/// make of them.
package struct Meaning: Sendable, Equatable {
    package let entity: Entity
    package var forms: [String: Set<NormalForm>]

    package init(_ entity: Entity, forms: [String: Set<NormalForm>] = [:]) {
        self.entity = entity
        self.forms = forms
    }

    /// Whether two values of a field mean the same to the server.
    package func isSame(_ one: JSONText, _ other: JSONText, of field: String) -> Bool {
        guard let known = self.field(field, like: one) else { return one.isEquivalent(to: other) }
        return known.isSame(one, other, under: forms[field] ?? [])
    }

    /// The forms that lead from a value to a server's answer and were not known before; nil if none does. Empty for
    /// values that mean the same.
    package func newForms(from value: JSONText, to answer: JSONText, of field: String) -> Set<NormalForm>? {
        if isSame(value, answer, of: field) { return [] }
        guard let known = self.field(field, like: value) else { return nil }
        return known.forms(from: value, to: answer)?.subtracting(forms[field] ?? [])
    }

    /// Whether an answer is a text as HTML writes it, whether or not the server was seen to write so before: nothing else is
    /// likely to make the one of the other.
    package func isHTML(_ answer: JSONText, of text: JSONText, in field: String) -> Bool {
        // Other values are passed over before they are compared in all forms.
        guard let html = answer.string?.utf8, html.contains(UInt8(ascii: "&")) || html.contains(UInt8(ascii: "<")),
            let forms = newForms(from: text, to: answer, of: field), !forms.isEmpty
        else { return false }
        return forms.isSubset(of: [.escaped, .paragraphs])
    }

    /// Nil for a secret field. One that the schema lost while it was being changed is taken for what its values look like.
    private func field(_ name: String, like value: JSONText) -> Field? {
        if let known = entity[field: name] { return known.isStoredSealed ? nil : known }
        return switch value.kind {
        case .string: Field(name: name, kind: .string)
        case .number: Field(name: name, kind: .number)
        case .array: Field(name: name, kind: .list)
        default: nil
        }
    }
}
