internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import JSONText
internal import Logging
internal import Pictures
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// The contents of records, such as pictures: bytes are streamed in and out and never all held in memory.
extension Handlers {
    // MARK: Reading

    func content(of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        let kept = try await kept(entity, key, request)
        let tag = "\"\(kept.content.sha256)\""
        var response: Response
        if EntityTag.isKnown(tag, to: request) {
            response = Response(status: 304)
        } else {
            switch ByteRange(request, tag: tag, size: kept.file.size) {
            case .whole: response = Self.answer(200, kept.file, 0..<kept.file.size)
            case .part(let range):
                response = Self.answer(206, kept.file, range)
                let bytes = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(kept.file.size)"
                response.headers.append(("Content-Range", bytes))
            case .unsatisfiable:
                throw Problem(
                    .rangeNotSatisfiable, "the content has \(kept.file.size) bytes",
                    headers: [("Content-Range", "bytes */\(kept.file.size)")])
            }
            response.headers.append(("Content-Type", kept.content.type))
            // A browser saves what is no picture, and never shows it.
            if PictureKind(mediaType: kept.content.type) == nil {
                response.headers.append(("Content-Disposition", "attachment"))
            }
        }
        response.headers += Self.contentHeaders(tag) + [("Accept-Ranges", "bytes")]
        if let status = kept.status { response.headers.append(("Cache-Status", status.text)) }
        return response
    }

    /// `GET …/thumbnail?size=256`.
    func thumbnail(of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        var mistakes = mistakes
        let parameters = try QueryParameters(request)
        let size = mistakes.collect(256) { () throws(Problem) in
            let size = try parameters.integer("size", in: 1...Int.max, else: 256)
            guard Thumbnailer.sizes.contains(size) else {
                let sizes = Thumbnailer.sizes.map(String.init).joined(separator: ", ")
                throw .parameter("size", "expected a size of \(sizes) pixels")
            }
            return size
        }
        let kept = try await noting(mistakes).kept(entity, key, request)
        guard let kind = PictureKind(mediaType: kept.content.type) else {
            throw Problem.notFound(
                "content of type \(kept.content.type) has no thumbnail; only pictures have one")
        }
        let tag = "\"\(kept.content.sha256)-\(size)\""
        var response = Response(status: 304)
        if !EntityTag.isKnown(tag, to: request) {
            let file = try await thumbnail(of: kept, size: size, for: request)
            response = Self.answer(200, file, 0..<file.size)
            response.headers.append(("Content-Type", kind.thumbnailKind.mediaType))
        }
        response.headers += Self.contentHeaders(tag)
        return response
    }

    /// Makes a thumbnail on first use and stores it beside the content.
    private func thumbnail(of kept: Kept, size: Int, for request: Request) async throws -> ContentFile {
        let name = kept.content.sha256
        guard let contents = engine.contents, let thumbnailer = parts.thumbnailer else {
            throw Problem.unavailable("thumbnails are not available")
        }
        if let file = try contents.thumbnail(of: name, size: size) { return file }
        let bytes: [UInt8]
        do throws(Thumbnailer.Failure) {
            bytes = try await thumbnailer.thumbnail(
                of: kept.file.descriptor, named: name, size: size, for: ReadCaller(request).name)
        } catch {
            switch error {
            case .problem(.unreadable): throw Problem.noThumbnail("the content is damaged or not a picture")
            case .problem(.tooLarge): throw Problem.noThumbnail("making it exceeds the limit of memory or time")
            case .busy: throw Problem.unavailable("too many thumbnails are being made")
            case .failed(let message):
                log.error(
                    "a thumbnail could not be made",
                    metadata: ["error": "\(message)", "request_id": "\(request.id)"])
                throw Problem.unavailable("a thumbnail could not be made right now; the daemon's log says why")
            }
        }
        let draft = try contents.draft(limit: bytes.count)
        try draft.write(bytes)
        _ = try await contents.finish(draft, type: "")
        try contents.install(draft, asThumbnailOf: name, size: size)
        guard let file = try contents.thumbnail(of: name, size: size) else {
            throw Problem.notFound("the content was removed in the meantime")
        }
        return file
    }

    // MARK: The cached content

    private struct Kept {
        var content: Content
        var file: ContentFile
        var status: CacheStatus?
    }

    /// The cached content. Fetches it first if it is missing, if the record now names another, or if `refresh` asks.
    private func kept(_ entity: Entity, _ key: String, _ request: Request) async throws -> Kept {
        var mistakes = mistakes
        let parameters = try QueryParameters(request)
        var freshness = mistakes.collect(.cachedFirst, try Freshness(parameters, request))
        try mistakes.throwAny()
        if Freshness.isOnlyIfCached(request) { freshness = .cachedOnly }
        guard let contents = engine.contents, var status = try store.contentStatus(of: key, entity.name) else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        var file = try status.here.flatMap { try contents.open($0.sha256) }
        var outcome: RefreshOutcome?
        let isMiss = file == nil
        let isWanted = isMiss || status.isOutdated || freshness == .upstreamFirst
        if freshness != .cachedOnly, !status.isQueued, status.address != nil, isWanted {
            outcome = await engine.fetchContent(of: status.key, entity, for: ReadCaller(request))
            status = try store.contentStatus(of: key, entity.name) ?? status
            file = try status.here.flatMap { try contents.open($0.sha256) }
        }
        guard let content = status.here, let file else {
            throw missingContent(of: "\(entity.name)/\(key)", status, outcome, request)
        }
        try await noteUse(of: content, status.usedAt)
        return Kept(content: content, file: file, status: outcome.map { CacheStatus($0, isMiss: isMiss) })
    }

    /// Why the cache has no content of a record that it has.
    private func missingContent(
        of name: String, _ status: ContentStatus, _ outcome: RefreshOutcome?, _ request: Request
    ) -> Problem {
        // Nothing says where it would be, so the record has none.
        if status.address == nil { return .notFound("\(name) has no content") }
        if status.isQueued, status.here == nil { return .notFound("the content of \(name) was deleted") }
        guard outcome == nil, Freshness.isOnlyIfCached(request) else {
            return missing("the content of \(name)", outcome)
        }
        return Self.onlyIfCached("the content of \(name)")
    }

    /// Records the time of use to the hour, so that reading a content hardly ever writes.
    private func noteUse(of content: Content, _ last: Timestamp?) async throws {
        let time = now()
        guard let last, last + .seconds(3600) <= time else { return }
        try await store.noteUse(of: content.sha256, at: time)
    }

    private static let pieceBytes = 64 << 10

    private static func answer(_ status: Int, _ file: ContentFile, _ range: Range<Int>) -> Response {
        Response(status: status, headers: [], length: range.count) { offset in
            try file.read(at: range.lowerBound + offset, count: min(pieceBytes, range.count - offset))
        }
    }

    /// Keeps a browser from running the content as a page of ours.
    private static func contentHeaders(_ tag: String) -> [(name: String, value: String)] {
        [
            ("ETag", tag), ("Cache-Control", "private, no-cache"), ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "default-src 'none'; sandbox"),
        ]
    }

    // MARK: Writing

    func putContent(of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        guard let plan = entity.content, let contents = engine.contents, let stream = request.stream else {
            throw Problem.unavailable("content cannot be stored")
        }
        guard try store.contentStatus(of: key, entity.name) != nil else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        guard let place = places.uploads.take(for: request) else {
            throw Problem.unavailable("too many contents are being uploaded; wait until one has ended")
        }
        defer { withExtendedLifetime(place) {} }
        do {
            let draft = try contents.draft(limit: plan.maximumSize)
            while let bytes = try await Self.next(of: stream) { try draft.write(bytes) }
            try requireCaller(of: request)  // an upload can take an hour
            guard draft.size > 0 else {
                throw Problem(.incompleteBody, "the body is empty; send the content as the body")
            }
            let type = try draft.type(saidToBe: request.headers[single: "Content-Type"], among: plan.types)
            let content = try await contents.finish(draft, type: type)
            return try await setContent(
                content, of: entity, key, request, install: { try contents.install(draft, as: content.sha256) }
            ) {
                .record(try Self.shown(entity.name, key, $0))
            }
        } catch let error as ContentError {
            throw Problem(error, plan)
        }
    }

    func deleteContent(of entity: Entity, _ key: String, _ request: Request) async throws -> Response {
        try await setContent(nil, of: entity, key, request) { _ in .done }
    }

    private static func next(of stream: BodyStream) async throws -> [UInt8]? {
        do {
            return try await stream()
        } catch {
            throw Problem(.incompleteBody, "the body ended early")
        }
    }

    private func setContent(
        _ content: Content?, of entity: Entity, _ key: String, _ request: Request,
        install: @escaping @Sendable () throws -> Void = {},
        result: @escaping @Sendable (LocalTransaction) throws -> WriteResult
    ) async throws -> Response {
        try parts.standby?.requireLease()
        let result = try await store.write(
            for: ReadCaller(request), at: now(), clockOffset: clockOffset, trace: TraceContext(request)
        ) { transaction in
            try WriteConditions.check(
                content: { try transaction.contentStatus(of: key, entity.name)?.here.map { "\"\($0.sha256)\"" } },
                of: request)
            try transaction.setContent(entity.name, key: key, content, install: install)
            return try result(transaction)
        }
        try await parts.standby?.requireStored()
        engine.noteLocalWrite()
        return result.response
    }
}

extension Problem {
    fileprivate static func noThumbnail(_ reason: String) -> Problem {
        Problem(.noThumbnail, "there is no thumbnail: \(reason)")
    }

    fileprivate init(_ error: ContentError, _ plan: ContentPlan) {
        switch error {
        case .tooLarge: self.init(.contentTooLarge, "\(error)")
        case .unwelcome:
            self.init(
                .unsupportedMediaType, "\(error); send one of \(plan.types.joined(separator: ", "))",
                headers: [("Accept", plan.types.joined(separator: ", "))])
        case .failed: self = .unavailable("\(error)")
        }
    }
}
