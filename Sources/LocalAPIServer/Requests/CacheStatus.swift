internal import SyncEngine

/// The `Cache-Status` of an answer that called for a request to the upstream (RFC 9211).
struct CacheStatus {
    let text: String

    /// `isMiss`: the cache did not have the record.
    init(_ outcome: RefreshOutcome, isMiss: Bool) {
        let name = "repairminder-sync"
        switch outcome {
        case .stored: text = "\(name); fwd=\(isMiss ? "miss" : "request"); fwd-status=200; stored"
        case .absent: text = "\(name); fwd=\(isMiss ? "miss" : "request"); fwd-status=404"
        case .local: text = "\(name); hit; detail=\"the upstream does not have it yet\""
        case .unsupported: text = "\(name); hit; detail=\"the upstream does not serve it by itself\""
        case .unavailable(let reason), .failed(let reason): text = "\(name); hit; detail=\"\(Self.plain(reason))\""
        case .timedOut: text = "\(name); hit; detail=\"the upstream did not answer in time\""
        case .busy: text = "\(name); hit; detail=\"too many records are being fetched\""
        }
    }

    /// For an answer without a record.
    init(missing outcome: RefreshOutcome) {
        let start = "repairminder-sync; fwd=miss"
        switch outcome {
        case .absent: text = "\(start); fwd-status=404"
        case .unavailable(let reason), .failed(let reason): text = "\(start); detail=\"\(Self.plain(reason))\""
        case .unsupported: text = "\(start); detail=\"the upstream does not serve it by itself\""
        case .timedOut: text = "\(start); detail=\"the upstream did not answer in time\""
        case .busy: text = "\(start); detail=\"too many records are being fetched\""
        case .stored, .local: text = start
        }
    }

    /// For an answer without a record that the upstream was not asked for.
    static let unasked = CacheStatus(text: "repairminder-sync; detail=\"the upstream was not asked\"")

    /// For a whole list of an entity whose first load has not ended.
    static let incomplete = CacheStatus(text: "repairminder-sync; hit; detail=\"the first load has not ended\"")

    private init(text: String) { self.text = text }

    /// The reason as the text of a quoted structured field (RFC 9651, 3.3.3), shortened.
    private static func plain(_ reason: String) -> String {
        let bytes = reason.utf8.prefix(200).map { byte in
            (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                ? byte : UInt8(ascii: "'")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
