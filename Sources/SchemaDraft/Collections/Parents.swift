/// Which collection a list below a record belongs to.
struct Parents {
    private let byForm: [String: Collection]

    init(_ collections: [Collection]) {
        byForm = Dictionary(collections.map { (PathPattern.form($0.base[...]), $0) }) { first, _ in first }
    }

    /// Whether the last parameter in its path names a record of some collection.
    func isBelow(_ collection: Collection) -> Bool { collection.parentForm.map { byForm[$0] != nil } == true }

    /// The path of the list with this form.
    func path(of form: String) -> PathPattern? { byForm[form]?.path }

    /// The collection whose records the last parameter in the path of this one names.
    func parent(of collection: Collection) -> Collection? {
        guard let form = collection.parentForm, let parent = byForm[form], parent.name != collection.name,
            collection.path.segments.last?.contains("{") == false
        else { return nil }
        return parent
    }
}
