/// What can happen to a record.
package enum Operation: String, Sendable, Equatable, CaseIterable {
    case create, update, delete
}
