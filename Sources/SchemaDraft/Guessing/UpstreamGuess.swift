internal import EntitySchema

/// What a document says about the upstream as a whole.
struct UpstreamGuess {
    let document: OpenAPIDocument
    let collections: [Collection]
    /// Where the document came from, if that was an address: a relative one starts there.
    let source: String?

    func upstream() -> DraftUpstream {
        let signIn = SignInGuess(document: document, operations: calls).found()
        var upstream = DraftUpstream(signIn: signIn.signIn)
        upstream.todos += [signIn.todo].compactMap(\.self)
        upstream.address = address()
        if upstream.address == nil {
            let shown = document.addresses.first { $0.hasPrefix("https://") && $0.contains("{") }
            let path = Self.path(of: document.addresses.first ?? "")
            let such = shown.map { ", such as \($0)" } ?? ", https://…\(path)"
            upstream.todos.append("base_url: the address of the API\(such), here or in the configuration")
        } else if let address = upstream.address?.value, !document.isObserved, document.asked == nil,
            isForTrials(address)
        {
            upstream.todos.append("base_url: \(address) looks like one for trials: check that it is the right one")
        }
        var own = Set(signIn.headers.map { $0.name.lowercased() })
        if case .header(let name, _) = signIn.signIn.value { own.insert(name.lowercased()) }
        let needed = accepted + preferred + headers()
        upstream.headers = signIn.headers + needed.filter { !own.contains($0.name.lowercased()) }
        upstream.todos += missingHeaders(own.union(upstream.headers.map { $0.name.lowercased() }))
        upstream.probe = probe()
        upstream.errorMessage = errorMessage()
        let idempotency = idempotencyHeader()
        upstream.idempotencyHeader = idempotency.header
        upstream.todos += [idempotency.todo].compactMap(\.self)
        upstream.hasEntityTags = hasEntityTags()
        return upstream
    }

    private var calls: [APIOperation] {
        collections.flatMap {
            [$0.list] + $0.recordCalls.values.sorted { $0.method < $1.method } + [$0.creation].compactMap(\.self)
        }
    }

    /// The first that can be called. Many documents name a sandbox before the server with the user's records.
    func address() -> Guess<String>? {
        if let asked = document.asked { return Guess(asked.address, "its lists answered there") }
        let all = document.addresses.compactMap(usable)
        guard let address = all.first(where: { !isForTrials($0) }) ?? all.first else { return nil }
        if document.isObserved { return Guess(address, "it answered there") }
        let reason = address == all.first ? "can be called" : "is not for trials"
        return Guess(address, "the first server of the document that \(reason)")
    }

    private static let trials: Set = [
        "sandbox", "test", "testing", "staging", "stage", "stg", "uat", "qa", "mock", "demo", "dev", "preprod",
    ]

    /// Whether a word of an address says that it is for trials: `https://api-sandbox.shop.com`. Its domain, which may be
    /// `dev.to`, does not count, nor does the server that the document came from.
    private func isForTrials(_ address: String) -> Bool {
        guard let origin = Self.origin(of: address), origin.lowercased() != source.flatMap(Self.origin)?.lowercased()
        else { return false }
        let labels = origin.split(separator: "/").last?.split(separator: ".").dropLast(2) ?? []
        let path = address.dropFirst(origin.count).split(separator: "/")
        return (labels + path).contains { part in
            part.lowercased().split { !$0.isLetter }.contains { Self.trials.contains(String($0)) }
        }
    }

    /// First labels of hosts that stand for the reader's own.
    private static let samples = ["example", "subdomain", "demo", "unknown", "localhost", "hostname"]

    /// An address that the daemon can call; nil for one that only shows how such an address looks.
    private func usable(_ text: String) -> String? {
        var address = text
        if address.hasPrefix("//") { address = "https:\(address)" }
        if address.hasPrefix("/"), let source, let origin = Self.origin(of: source) { address = origin + address }
        guard address.hasPrefix("https://") || address.hasPrefix("http://"),
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"{}\"\\?#".utf8.contains($0) }),
            address.split(separator: "/").count > 1
        else { return nil }
        while address.hasSuffix("/") { address.removeLast() }
        let host = Self.origin(of: address)?.lowercased() ?? ""
        let isSource = source.flatMap(Self.origin)?.lowercased() == host
        if address.dropFirst(8).split(separator: "/").dropFirst().contains(where: Self.isSampleSegment) { return nil }
        return document.isObserved || isSource || address.hasPrefix("https://") && !Self.isSample(host) ? address : nil
    }

    /// `https://api.shop.com/stores/unknown/v2`, `…/your-store/…`.
    private static func isSampleSegment(_ segment: Substring) -> Bool {
        let word = segment.lowercased()
        return word == "unknown" || word.hasPrefix("your")
    }

    private static func isSample(_ origin: String) -> Bool {
        let host = origin.split(separator: "/").last?.split(separator: ":").first ?? ""
        let labels = host.split(separator: ".")
        if labels.count < 2 || labels.allSatisfy({ $0.allSatisfy(\.isNumber) }) { return true }
        return samples.contains(String(labels[0])) || labels.contains { $0.hasPrefix("your") }
            || labels[0].hasPrefix("demo") || labels[0] == "try"
            || labels.dropLast().contains("example") || labels.last == "invalid"
    }

    /// `https://host:port` of an address.
    static func origin(of address: String) -> String? {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        let host = address[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return host.isEmpty ? nil : String(address[..<scheme.upperBound]) + host
    }

    /// The path of an address, which a document may have without a host: `/api/v1`.
    static func path(of address: String) -> String {
        let path = address.dropFirst(origin(of: address)?.count ?? 0)
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"{}\"\\?#".utf8.contains($0) }) else { return "" }
        return path.split(separator: "/").map { "/\($0)" }.joined()
    }

    private static let notSettings: Set = ["authorization", "if-match", "if-none-match"]

    /// Headers that most lists need. One without a value in the document, such as that of a tenant, is a setting.
    private func headers() -> [(name: String, value: Guess<String>)] {
        let needed = collections.flatMap { $0.list.parameters.filter { $0.place == "header" && $0.isRequired } }
        let names = needed.map { $0.name.lowercased() }
        return needed.reduce(into: []) { found, parameter in
            let name = parameter.name
            guard !Self.notSettings.contains(name.lowercased()), SignInGuess.isHeader(name),
                names.count(where: { $0 == name.lowercased() }) * 2 > collections.count,
                !found.contains(where: { $0.name.lowercased() == name.lowercased() })
            else { return }
            if let value = FixedParameter.value(of: parameter), Self.isHeaderText(value) {
                found.append((name, Guess(value, "the lists need it")))
            } else {
                let setting = DraftSetting.text(PathFiller.setting(name))
                found.append((name, Guess(setting, "the lists need it: set upstream.settings")))
            }
        }
    }

    /// Headers that calls need, and the document has no value for.
    private func missingHeaders(_ known: Set<String>) -> [String] {
        var known = known.union(Self.notSettings)
        return calls.flatMap { call in
            call.parameters.filter { $0.place == "header" && $0.isRequired && SignInGuess.isHeader($0.name) }
                .filter { known.insert($0.name.lowercased()).inserted }
                .map { "headers: { \($0.name): … }: \(call.method) \(call.path.text) needs it" }
        }
    }

    /// The lists' only form of JSON, if that has another name: a server may refuse to answer what it does not have. Lines of JSON
    /// are no list that the daemon reads.
    private var accepted: [(name: String, value: Guess<String>)] {
        let types = Set(collections.compactMap(\.list.answerType))
        guard types.count == 1, let type = types.first, type != "application/json",
            type.wholeMatch(of: /[a-z]+\/(?:[a-z0-9._-]+\+)?json/) != nil
        else { return [] }
        return [("Accept", Guess("\(type), application/json;q=0.9", "the lists answer it"))]
    }

    private var preferred: [(name: String, value: Guess<String>)] {
        guard collections.contains(where: { RowFilters.has($0.list) }) else { return [] }
        return [("Prefer", Guess(RowFilters.preferences, "changes then answer the record, and lists their length"))]
    }

    private static func isHeaderText(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && !"{}".utf8.contains($0) }
    }

    private func probe() -> Guess<String>? {
        let lists = Set(collections.map(\.path.text))
        let calls = document.operations.filter { operation in
            operation.method == "GET" && operation.path.parameters.isEmpty && !lists.contains(operation.path.text)
        }
        let names: Set = ["health", "healthz", "ping", "readyz", "heartbeat"]
        let found =
            calls.first { names.contains($0.path.lastSegment.lowercased()) } ?? calls.first(where: Self.saysStatus)
        return found.map { Guess($0.path.text, "by its name") }
    }

    /// Whether it has the status or the version of the whole: `/api/v1/status`, not `/imports/status`.
    private static func saysStatus(_ operation: APIOperation) -> Bool {
        let words = operation.path.segments.map { $0.lowercased() }
        return ["status", "version"].contains(words.last ?? "")
            && words.dropLast().allSatisfy { ["api", "rest"].contains($0) || EntityNames.isVersion($0) }
    }

    // MARK: Errors

    private static let messages = [
        "message", "detail", "errormessage", "description", "title", "error", "msg", "reason",
    ]

    private func errorMessage() -> Guess<String>? {
        var counts: [String: Int] = [:]
        for shape in calls.compactMap(\.error).prefix(200) {
            if let place = message(in: shape) { counts[place, default: 0] += 1 }
        }
        let best = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return best.map { Guess($0.key, "the errors of \($0.value) calls have it") }
    }

    private func message(in shape: DataShape) -> String? {
        for name in Self.messages {
            guard let property = shape.properties.first(where: { Words.folded($0.name) == name }) else { continue }
            let inner = document.shapes.shape(of: property)
            if inner.kind == .string { return PlaceText.joined([property.name]) }
            guard inner.kind == .object, let deeper = message(inside: inner) else { continue }
            return PlaceText.joined([property.name, deeper])
        }
        let lists = shape.properties.first { Words.folded($0.name) == "errors" }
        return lists.flatMap { PlaceText.joined([$0.name]) }
    }

    private func message(inside shape: DataShape) -> String? {
        Self.messages.lazy.compactMap { name in
            shape.properties.first { Words.folded($0.name) == name && document.shapes.shape(of: $0).kind == .string }
        }.first?.name
    }

    // MARK: Changes

    /// A creation that does not take it would be made twice: with such a header the daemon repeats those it cannot look up.
    private func idempotencyHeader() -> (header: Guess<UpstreamPlan.IdempotencyHeader>?, todo: String?) {
        let names = ["idempotency-key", "x-idempotency-key", "idempotencykey", "paypal-request-id", "x-idempotency"]
        let creations = collections.compactMap(\.creation)
        for creation in creations {
            guard let found = names.lazy.compactMap({ creation.header($0) }).first else { continue }
            let lacking = creations.filter { $0.header(found.name) == nil }
            guard let first = lacking.first else {
                let header = UpstreamPlan.IdempotencyHeader(name: found.name, operations: operations(with: found.name))
                return (Guess(header, "POST \(creation.path.text) takes it"), nil)
            }
            let more = lacking.count > 1 ? " and \(lacking.count - 1) more" : ""
            return (
                nil,
                "idempotency_header: \(found.name), if every creation takes it: the document does not say so of "
                    + "\(first.method) \(first.path.text)\(more)"
            )
        }
        return (nil, nil)
    }

    /// Those whose calls all take the header, as creations do.
    private func operations(with header: String) -> Set<Operation> {
        let updates = collections.flatMap { collection in
            ["PATCH", "PUT", "POST"].compactMap { collection.recordCalls[$0] }
                + [collection.keyed.update?.call].compactMap(\.self)
        }
        let deletions = collections.compactMap { $0.recordCalls["DELETE"] ?? $0.keyed.deletion?.call }
        var operations: Set<Operation> = [.create]
        if updates.allSatisfy({ $0.header(header) != nil }) { operations.insert(.update) }
        if deletions.allSatisfy({ $0.header(header) != nil }) { operations.insert(.delete) }
        return operations
    }

    private func hasEntityTags() -> Guess<Bool>? {
        let fits = collections.first { collection in
            let takes = ["PATCH", "PUT"].contains { collection.recordCalls[$0]?.header("If-Match") != nil }
            return takes && collection.single?.answerHeaders.contains { $0.lowercased() == "etag" } == true
        }
        return fits.map { Guess(true, "\($0.recordPath?.text ?? "") has an ETag, and its changes take If-Match") }
    }
}
