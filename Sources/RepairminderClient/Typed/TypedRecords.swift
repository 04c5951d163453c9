/// The records of one entity: `client.orders`, in generated code.
public struct TypedRecords<Item: TypedRecord>: Sendable {
    /// The same records by names, for everything that has no typed call.
    public let untyped: Records

    init(_ untyped: Records) { self.untyped = untyped }

    /// The records of a list, page by page; `.items` has them one by one.
    public func list(_ query: TypedQuery<Item> = .all) -> Pages<Item> {
        let call = Call.get(PathText.path(Item.entity), query.untyped.items)
        return untyped.caller.pages(call) { Item(Record(json: $0, tag: nil)) }
    }

    /// The first record of a list; nil if it is empty.
    public func first(_ query: TypedQuery<Item> = .all) async throws(ClientError) -> Item? {
        try await untyped.first(query.untyped).map(Item.init)
    }

    /// The number of records in a list.
    public func count(_ query: TypedQuery<Item> = .all) async throws(ClientError) -> Int {
        try await untyped.count(query.untyped)
    }

    /// A page of a list, which begins where `cursor` says: `next` of the page before it.
    public func page(_ query: TypedQuery<Item> = .all, cursor: String? = nil) async throws(ClientError) -> Page<Item> {
        try await list(query).page(cursor)
    }

    /// A record. The problem is `.notFound` if it does not exist, `.notListed` if only the upstream's list could show
    /// it and lacks it, `.notCached` if it is not known whether it exists.
    public func get(_ id: Item.ID, _ options: ReadOptions = ReadOptions()) async throws(ClientError) -> Item {
        Item(try await untyped.get(id.text, options))
    }

    /// A record once it has another tag than this one; nil if it kept it for so long (60 s at most).
    public func change(
        of id: Item.ID, from tag: String, within time: Duration
    ) async throws(ClientError) -> Item? {
        try await untyped.change(of: id.text, from: tag, within: time).map(Item.init)
    }
}

extension TypedRecords where Item: ContentRecord {
    /// The content of a record. It is fetched from the upstream if it is not here.
    public func content(
        of id: Item.ID, refresh: Bool = false, ifNoneMatch tag: String? = nil
    ) async throws(ClientError) -> Content {
        try await untyped.content(of: id.text, refresh: refresh, ifNoneMatch: tag)
    }

    /// A small, upright picture of the content; `size` is its longest side: 64, 128, 256, 512 or 1024 pixels.
    public func thumbnail(of id: Item.ID, size: Int = 256) async throws(ClientError) -> Content {
        try await untyped.thumbnail(of: id.text, size: size)
    }
}

extension TypedRecords where Item: UploadableRecord {
    /// Stores the content of a record and queues its upload.
    @discardableResult
    public func setContent(of id: Item.ID, to bytes: [UInt8], type: String) async throws(ClientError) -> Written<Item> {
        Written(try await untyped.setContent(of: id.text, to: bytes, type: type))
    }
}
