/// A call that creates a record of a list below a record of another: `POST /projects/{id}/tasks` for `/tasks`.
struct CreationBelow: Sendable {
    var call: APIOperation
    /// The path of the other list.
    var parent: PathPattern
}
