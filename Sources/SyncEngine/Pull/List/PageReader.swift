internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Fetches the pages of one list in order, and verifies that the list makes progress.
struct PageReader: Sendable {
    private let puller: Puller
    private let entity: Entity
    let plan: PullPlan
    /// Where the next page is; nil after the last one.
    private var next: PullInProgress?
    /// Where the last page was.
    private var before: PullInProgress?
    /// Why the last reading ended early; reading again ends at once.
    private var failure: (any Error)?
    /// What the pages read so far say of the list.
    private(set) var list: ListReading
    /// What the next pull asks with, once the last page was read and said so.
    private(set) var delta: String?
    /// The token of the page before.
    private var passingDelta: String?

    /// The most pages that are fetched before they are written, and the most bytes after which no other is.
    private static let mostAhead = 8
    private static let mostBytes = 4 << 20
    /// How often the upstream may ask to wait with one page.
    private static let mostWaits = 3

    init(_ puller: Puller, _ entity: Entity, _ plan: PullPlan, from pull: PullInProgress) {
        self.puller = puller
        self.entity = entity
        self.plan = plan.list(of: pull.kind) == .changes ? plan.ofChanges : plan
        list = ListReading(self.plan.list, at: self.plan.path, key: entity.key, repeats: pull.kind == .delta)
        next = pull
    }

    /// Pages in their order, and why there are no more of them.
    struct Pages: Sendable {
        var pages: [FetchedPage] = []
        var failure: (any Error)?
    }

    /// The list would never end: the next pull has to begin at its first page.
    struct Endless: Error {
        var reason: UpstreamError
    }

    /// Nil after the last page.
    mutating func read() async throws -> FetchedPage? {
        guard var pull = next else { return nil }
        var fetched = try await fetch(pull)
        if let again = try await pageBefore(fetched, at: pull) { (pull, fetched) = again }
        before = pull
        // A pull goes on where it was interrupted, or again from the page before.
        (list.position, list.records) = (pull.position, pull.seen)
        do {
            try list.add(fetched.page)
        } catch {
            throw Endless(reason: error)
        }
        (pull.position, pull.seen) = (list.position, list.records)
        fetched.after = pull
        if pull.position == nil {
            // A page that only shows that the list is over may have no token of its own.
            delta = fetched.page.delta ?? (fetched.page.count == 0 ? passingDelta : nil)
        }
        passingDelta = fetched.page.passingDelta
        next = pull.position == nil ? nil : pull
        return fetched
    }

    /// Only a list of everything that is read in one go shows deletions, so one whose pages go over a limit is not left each time.
    private func fetch(_ pull: PullInProgress) async throws -> FetchedPage {
        for _ in 0..<Self.mostWaits {
            do {
                return try await puller.fetch(entity.name, plan, pull)
            } catch let error as UpstreamError where pull.kind == .everything && before != nil {
                guard try await puller.waitsOut(error, entity.name) else { throw error }
            }
        }
        return try await puller.fetch(entity.name, plan, pull)
    }

    /// Before an empty page counts as the end of the list, reads the page before it again if the two are joined by its last
    /// record: once that record is deleted, many upstreams show nothing after it. Nil if the page still ends with it.
    private func pageBefore(
        _ fetched: FetchedPage, at pull: PullInProgress
    ) async throws -> (PullInProgress, FetchedPage)? {
        guard plan.list.isByLastRecord, fetched.page.count == 0, let before else { return nil }
        let again = try await puller.fetch(entity.name, plan, before)
        return again.page.next == pull.position ? nil : (before, again)
    }

    /// Lets other lists be read if the turn of this one is over, unless its last page was read. A scroll would expire meanwhile,
    /// and begin again each time.
    func giveWay() async throws {
        if next != nil, !plan.list.isScroll { try await puller.turn?.giveWay() }
    }

    /// Fetches pages until `isWriting` is false: at least one, unless there is none. The reader comes back with them.
    consuming func ahead(while isWriting: Published<Bool>) async -> (pages: Pages, reader: PageReader) {
        guard failure == nil else { return (Pages(failure: failure), self) }
        var found = Pages()
        var bytes = 0
        do {
            try await giveWay()
            repeat {
                guard let page = try await read() else { break }
                found.pages.append(page)
                bytes += page.page.records.bytes.count
                // A large page must be written before another may take its memory.
                if page.page.share != nil { break }
            } while found.pages.count < Self.mostAhead && bytes < Self.mostBytes && isWriting.value
        } catch {
            failure = error
        }
        found.failure = failure
        return (found, self)
    }
}
