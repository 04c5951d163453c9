extension Int {
    /// The number with its noun: `1 change`, `2 changes`.
    func counted(_ singular: String, _ plural: String) -> String { "\(self) \(self == 1 ? singular : plural)" }
}
