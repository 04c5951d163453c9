/// Pictures and other content of records, and whole lists as files.
extension Records {
    /// The content of a record. It is fetched from the upstream if it is not here.
    public func content(
        of id: String, refresh: Bool = false, ifNoneMatch tag: String? = nil
    ) async throws(ClientError) -> Content {
        var call = Call.get(PathText.path(entity, id, "content"), refresh ? [QueryItem("refresh", "true")] : [])
        if let tag { call.headers.append(HeaderField("If-None-Match", tag)) }
        return try await content(call)
    }

    /// A small, upright picture of the content; `size` is its longest side: 64, 128, 256, 512 or 1024 pixels.
    public func thumbnail(of id: String, size: Int = 256) async throws(ClientError) -> Content {
        try await content(Call.get(PathText.path(entity, id, "thumbnail"), [QueryItem("size", String(size))]))
    }

    /// Stores the content of a record and queues its upload. Wait for the upload with `_sync` of the record.
    @discardableResult
    public func setContent(of id: String, to bytes: [UInt8], type: String) async throws(ClientError) -> WriteResult {
        let call = Call(
            method: "PUT", path: PathText.path(entity, id, "content"), body: .bytes(bytes, type: type),
            isRepeatable: true)
        return WriteResult(try await caller.json(call))
    }

    /// Deletes the content here at once, and queues the deletion. The record stays.
    public func deleteContent(of id: String) async throws(ClientError) {
        _ = try await caller.json(
            Call(method: "DELETE", path: PathText.path(entity, id, "content"), isRepeatable: true))
    }

    /// A whole list as a file, however long, read while the daemon sends it.
    public func export(
        _ query: RecordQuery = RecordQuery(), as format: ExportFormat
    ) async throws(ClientError) -> ResponseBody {
        var call = Call.get(PathText.path(entity), query.items)
        call.headers.append(HeaderField("Accept", format.rawValue))
        return try await caller.response(call).body
    }

    private func content(_ call: Call) async throws(ClientError) -> Content {
        var call = call
        call.headers.append(HeaderField("Accept", "*/*"))
        // What is not here yet comes from the upstream first.
        call.wait = .seconds(240)
        return Content(try await caller.response(call))
    }
}

/// The format of a whole list.
public struct ExportFormat: OpenName {
    /// The media type.
    public let rawValue: String

    /// Any media type that the daemon knows.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// One record as JSON on each line.
    public static let lines: ExportFormat = "application/x-ndjson"
    /// CSV with a header line, safe to open in a spreadsheet.
    public static let csv: ExportFormat = "text/csv"
}

/// The bytes of a record's content.
public struct Content: Sendable {
    /// The media type.
    public let type: String?
    /// The version, for `ifNoneMatch`.
    public let tag: String?
    /// Where the content came from (`Cache-Status`).
    public let origin: String?
    /// Whether the content still has the tag that was named; then there are no bytes.
    public let isUnchanged: Bool
    /// The bytes, read when they are asked for.
    public let body: ResponseBody

    init(_ response: ClientResponse) {
        type = response.header("Content-Type")
        tag = response.header("ETag")
        origin = response.header("Cache-Status")
        isUnchanged = response.status == 304
        body = response.body
    }
}
