/// A part of a list.
public struct Page<Item: Sendable>: Sendable {
    /// What is on it.
    public var items: [Item]
    /// Where the next page begins; nil on the last one.
    public var next: String?
    /// The number of all that match, if `count` was asked for.
    public var total: Int?
    /// False until the first load has ended: there may be more than the list shows.
    public var isComplete: Bool

    /// A page.
    public init(items: [Item], next: String? = nil, total: Int? = nil, isComplete: Bool = true) {
        self.items = items
        self.next = next
        self.total = total
        self.isComplete = isComplete
    }
}

/// A list, page by page, each asked for when it is needed.
public struct Pages<Item: Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Page<Item>
    /// Why a page could not be had.
    public typealias Failure = ClientError

    let page: @Sendable (_ cursor: String?) async throws(ClientError) -> Page<Item>

    /// All items, one by one.
    public var items: Items<Item> { Items(pages: self) }

    /// The first page.
    public func first() async throws(ClientError) -> Page<Item> { try await page(nil) }

    /// Begins at the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    /// Reads page by page.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let pages: Pages
        private var cursor: String?
        private var isAtEnd = false

        init(pages: Pages) { self.pages = pages }

        /// The next page; nil after the last.
        public mutating func next(isolation: isolated (any Actor)?) async throws(ClientError) -> Page<Item>? {
            guard !isAtEnd else { return nil }
            let page = try await pages.page(cursor)
            cursor = page.next
            isAtEnd = page.next == nil
            return page
        }
    }
}

/// The items of a list, one by one, over all its pages.
public struct Items<Item: Sendable>: AsyncSequence, Sendable {
    /// An item.
    public typealias Element = Item
    /// Why a page could not be had.
    public typealias Failure = ClientError

    let pages: Pages<Item>

    /// Begins at the first item.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }

    /// All items together.
    public func collect() async throws(ClientError) -> [Item] {
        var all: [Item] = []
        var iterator = pages.makeAsyncIterator()
        while let page = try await iterator.next(isolation: nil) { all += page.items }
        return all
    }

    /// Reads item by item.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        var pages: Pages<Item>.AsyncIterator
        private var rest: ArraySlice<Item> = []

        init(pages: Pages<Item>.AsyncIterator) { self.pages = pages }

        /// The next item; nil after the last.
        public mutating func next(isolation: isolated (any Actor)?) async throws(ClientError) -> Item? {
            while rest.isEmpty {
                guard let page = try await pages.next(isolation: isolation) else { return nil }
                rest = page.items[...]
            }
            return rest.popFirst()
        }
    }
}
