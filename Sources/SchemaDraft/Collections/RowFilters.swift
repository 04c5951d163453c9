/// PostgREST has all calls for the rows of a table at one path, and a condition says which rows: `PATCH /orders?id=eq.7`. Without
/// one, the call changes or deletes all of them.
struct RowFilters {
    let list: APIOperation
    /// The calls at the path of the list.
    let calls: [APIOperation]

    /// What changes send so that they answer the rows, and lists to say how long they are.
    static let preferences = "return=representation, count=exact"
    /// The header that says it.
    static let total = "Content-Range"

    /// Whether a list takes the headers of PostgREST.
    static func has(_ list: APIOperation) -> Bool { list.header("Range-Unit") != nil && list.header("Prefer") != nil }

    /// The members of the primary key, as PostgREST marks them in their descriptions.
    static func primaryKey(of item: DataShape, _ shapes: ShapeReader) -> [String] {
        item.properties.filter { shapes.shape(of: $0).description?.contains("<pk/>") == true }.map(\.name)
    }

    /// The calls for one row.
    func found(key: String) -> KeyedCalls.Found {
        var found = KeyedCalls.Found()
        found.read = call("GET", key)
        found.update = call("PATCH", key)
        found.deletion = call("DELETE", key).map {
            KeyedCalls.Deletion(call: $0.call, parameter: $0.parameter, record: "0")
        }
        return found
    }

    private func call(_ method: String, _ key: String) -> KeyedCalls.Call? {
        guard var call = calls.first(where: { $0.method == method && $0.path == list.path }),
            call.queries.contains(where: { $0.name == key })
        else { return nil }
        call.parameters.removeAll { $0.place == "query" }
        call.answer = list.answer
        return KeyedCalls.Call(call: call, parameter: "\(key)=eq.")
    }
}
