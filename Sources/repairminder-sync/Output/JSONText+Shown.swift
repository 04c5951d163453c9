import JSONText

extension JSONText {
    /// A member as plain text; empty if there is none.
    func shown(_ name: String) -> String { self[name]?.plain ?? "" }
}
