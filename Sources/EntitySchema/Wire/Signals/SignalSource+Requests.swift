package import JSONText

extension SignalStream {
    /// `lastEvent`: the id of the last event that arrived, so that the upstream can send what was missed.
    package func request(after lastEvent: String?) -> WireRequest {
        var request = WireRequest(
            path: path.adding(query),
            headers: [
                WireRequest.Header("Accept", "text/event-stream"), WireRequest.Header("Cache-Control", "no-cache"),
                // Something that compresses may hold events back.
                WireRequest.Header("Accept-Encoding", "identity"),
            ])
        if let lastEvent, !lastEvent.isEmpty { request.headers.append(WireRequest.Header("Last-Event-ID", lastEvent)) }
        return request
    }
}

extension SignalStream.Subscription {
    /// Asks for events, with values of the event that says that the stream is open. Nil when one of them is missing.
    package func request(after event: JSONText) -> WireRequest? {
        let values: (ValueTemplate.Name) -> JSONText? = { name in
            guard case .value(let name) = name, name.hasPrefix("event.") else { return nil }
            return event.at(path: String(name.dropFirst("event.".count)))
        }
        guard let body = body.json(values) else { return nil }
        var request = WireRequest.post(path, body, secrets: [], secretMembers: [])
        request.method = method
        return request
    }
}

extension SignalBody {
    /// Nil when a value is missing.
    fileprivate func json(_ value: (ValueTemplate.Name) -> JSONText?) -> JSONText? {
        switch self {
        case .constant(let json): return .some(json)
        case .text(let template): return template.json(value)
        case .list(let elements):
            let filled = elements.compactMap { $0.json(value) }
            return filled.count == elements.count ? .some(.array(filled)) : .none
        case .object(let members):
            let filled = members.compactMap { member in member.value.json(value).map { (key: member.name, value: $0) } }
            return filled.count == members.count ? .some(.object(members: filled)) : .none
        }
    }
}

extension SignalEvents {
    /// One page of the list. `position`: where the last poll ended; nil for the beginning.
    package func page(since position: String?) -> PageRequest {
        var request = PageRequest(path: path, query: query, list: list)
        if let since {
            request.since = position.map { QueryItem(name: since.parameter, value: $0) }
        } else {
            request.position = position
            request.renewing = expired
            request.hasEnd = false
        }
        return request
    }
}
