/// Which collection a list below a record belongs to.
struct Parents {
    private let byForm: [String: Collection]
    /// By the form of the path with its last name in the singular: `/question/{id}/options` is below `/questions`.
    private let bySingular: [String: Collection]

    init(_ collections: [Collection]) {
        byForm = Dictionary(collections.map { ($0.baseForm, $0) }) { first, _ in first }
        bySingular = Dictionary(collections.map { (Self.singular($0.base), $0) }) { first, _ in first }
    }

    private static func singular(_ names: [String]) -> String {
        PathPattern.form(names.dropLast() + names.suffix(1).map(Words.singular))
    }

    private func collection(_ form: String) -> Collection? { byForm[form] ?? bySingular[form] }

    /// Whether the last parameter in its path names a record of some collection.
    func isBelow(_ other: Collection) -> Bool { other.parentForm.map { collection($0) != nil } == true }

    /// The path of the list with this form.
    func path(of form: String) -> PathPattern? { collection(form)?.path }

    /// The collection whose records the last parameter in the path of this one names.
    func parent(of other: Collection) -> Collection? {
        guard let form = other.parentForm, let parent = collection(form), parent.name != other.name,
            other.path.segments.last?.contains("{") == false
        else { return nil }
        return parent
    }
}
