package import EntitySchema
internal import JSONText

/// Event streams.
extension HTTPUpstream {
    /// How often a stream's token is compared with the present one, which is also when it is renewed.
    private static let tokenCheck = Duration.seconds(5)

    package func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        let carried = try await currentToken()
        let first = await attempt(stream, lastEvent, carried, clock, receive)
        guard case .failure(.unauthorized) = first, let token, try await token.renew(refused: carried) else {
            return try first.get()
        }
        return try await attempt(stream, lastEvent, try await currentToken(), clock, receive).get()
    }

    /// Opens the stream once.
    private func attempt(
        _ stream: SignalStream, _ lastEvent: String?, _ token: String?, _ clock: any Clock<Duration>,
        _ receive: @escaping @Sendable (StreamNews) -> Void
    ) async -> Result<StreamEnd, UpstreamError> {
        let (starts, continuation) = AsyncStream.makeStream(of: JSONText.self, bufferingPolicy: .bufferingNewest(1))
        let intake = EventIntake(clock)
        let sink = sink(of: stream, receive, starts: continuation, intake)
        return await withTaskGroup(of: Result<StreamEnd, UpstreamError>?.self) { group in
            group.addTask { await self.open(stream.request(after: lastEvent), token, stream.idle, sink, intake) }
            if let subscription = stream.subscription {
                group.addTask { await self.subscribe(subscription, on: starts, token, receive) }
            }
            group.addTask { await self.waitForOtherToken(than: token, clock) }
            defer { group.cancelAll() }
            for await result in group {
                if let result { return result }
            }
            return .failure(.cancelled)
        }
    }

    private func sink(
        of stream: SignalStream, _ receive: @escaping @Sendable (StreamNews) -> Void,
        starts: AsyncStream<JSONText>.Continuation, _ intake: EventIntake
    ) -> BodySink {
        BodySink { status, type in
            guard status != 204 else { return "it has no event stream" }
            guard type == "text/event-stream" else {
                let shown = type.isEmpty ? "no content type" : type
                return "it is not an event stream but has \(shown); correct signals.sse.path in the schema"
            }
            if stream.subscription == nil { receive(.opened) }
            return nil
        } take: { bytes in
            intake.take(bytes, retry: { receive(.retry($0)) }) { event in
                let event = StreamEvent(event)
                if event.name == stream.subscription?.event {
                    starts.yield(event.data ?? .object([:]))
                } else if stream.events?.contains(event.name) ?? true {
                    receive(.event(event))
                }
            }
        }
    }

    private func open(
        _ request: WireRequest, _ token: String?, _ idle: Duration, _ sink: BodySink, _ intake: EventIntake
    ) async -> Result<StreamEnd, UpstreamError> {
        await withTaskCancellationHandler {
            do throws(UpstreamError) {
                let response = try await caller.stream(request, token: token, idle: idle, into: sink)
                if let failure = caller.failure(response, to: request) { return .failure(failure) }
                return .success(.closed)
            } catch {
                return .failure(intake.isFlooded ? Self.flood : error)
            }
        } onCancel: {
            intake.stop()
        }
    }

    private static var flood: UpstreamError {
        .malformed(
            "the event stream was closed, because more than \(EventIntake.mostEvents) events or "
                + "\(EventIntake.mostBytes >> 20) MiB came within a second; what it names is pulled")
    }

    /// Asks for events whenever the stream says that it is open. Returns only a failure.
    private func subscribe(
        _ subscription: SignalStream.Subscription, on starts: AsyncStream<JSONText>, _ token: String?,
        _ receive: @Sendable (StreamNews) -> Void
    ) async -> Result<StreamEnd, UpstreamError>? {
        for await start in starts {
            guard let request = subscription.request(after: start) else {
                return .failure(
                    .malformed(
                        "the event \(subscription.event) lacks a value that \(subscription.path) needs; correct "
                            + "signals.sse.subscribe in the schema"))
            }
            do throws(UpstreamError) {
                let response = try await caller.send(request, token: token)
                if let failure = caller.failure(response, to: request) { return .failure(failure) }
                receive(.opened)
            } catch {
                return .failure(error)
            }
        }
        return nil
    }

    /// Returns nil when there is no token to compare, or the task is cancelled.
    private func waitForOtherToken(
        than token: String?, _ clock: any Clock<Duration>
    ) async -> Result<StreamEnd, UpstreamError>? {
        guard let token else { return nil }
        while (try? await clock.sleep(for: Self.tokenCheck)) != nil {
            guard let now = try? await currentToken(), now != token else { continue }
            return .success(.tokenChanged)
        }
        return nil
    }
}

extension StreamEvent {
    fileprivate init(_ event: EventStreamParser.Event) {
        self.init(
            name: MarkRun.shortened(event.name), data: event.data.flatMap(Self.data),
            id: MarkRun.shortened(event.id))
    }

    private static func data(_ text: String) -> JSONText? {
        let bytes = Array(text.utf8)
        guard MarkRun.areShort(inJSON: bytes[...], upTo: MarkRun.longestUpstream) else { return nil }
        return (try? JSONText(bytes)) ?? .string(text)
    }
}
