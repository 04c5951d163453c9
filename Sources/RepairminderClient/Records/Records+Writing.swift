/// Each write is on disk before the daemon answers, and is done once even if the library had to send it again.
extension Records {
    /// Creates a record. The daemon generates an id unless the fields have one.
    @discardableResult
    public func create(
        _ fields: JSONObject, _ options: WriteOptions = WriteOptions()
    ) async throws(ClientError) -> WriteResult {
        try await write("POST", PathText.path(entity), fields, options)
    }

    /// Creates a related record, such as one of the `devices` of an order, with its reference filled in.
    @discardableResult
    public func create(
        _ fields: JSONObject, as relation: String, of id: String, _ options: WriteOptions = WriteOptions()
    ) async throws(ClientError) -> WriteResult {
        try await write("POST", PathText.path(entity, id, relation), fields, options)
    }

    /// Changes the named fields; `.null` sets one to null.
    @discardableResult
    public func update(
        _ id: String, _ fields: JSONObject, _ options: WriteOptions = WriteOptions()
    ) async throws(ClientError) -> WriteResult {
        try await write("PATCH", PathText.path(entity, id), fields, options)
    }

    /// Makes the record what the fields say, or creates it under this id.
    @discardableResult
    public func replace(
        _ id: String, with fields: JSONObject, _ options: WriteOptions = WriteOptions()
    ) async throws(ClientError) -> WriteResult {
        try await write("PUT", PathText.path(entity, id), fields, options)
    }

    /// Deletes the record here at once, and queues the deletion.
    @discardableResult
    public func delete(_ id: String, _ options: WriteOptions = WriteOptions()) async throws(ClientError) -> WriteResult
    {
        try await write("DELETE", PathText.path(entity, id), nil, options)
    }

    /// Reads a record, changes it and writes it, again if someone else has changed it in between.
    ///
    /// `change` may run several times; it returns the fields to set, or nil to leave the record as it is.
    @discardableResult
    public func update(
        _ id: String, wait: Duration? = nil, attempts: Int = 10, _ change: (Record) throws(ClientError) -> JSONObject?
    ) async throws(ClientError) -> WriteResult? {
        var attempt = 1
        while true {
            let record = try await get(id)
            guard let fields = try change(record) else { return nil }
            do throws(ClientError) {
                return try await update(id, fields, WriteOptions(wait: wait, ifMatch: record.tag))
            } catch {
                guard error.code == .versionMismatch, attempt < attempts else { throw error }
                attempt += 1
            }
        }
    }

    private func write(
        _ method: String, _ path: String, _ fields: JSONObject?, _ options: WriteOptions
    ) async throws(ClientError) -> WriteResult {
        var call = Call.write(method, path, body: fields.map(JSONValue.object), key: options.key)
        options.apply(to: &call)
        return WriteResult(try await caller.json(call))
    }
}
