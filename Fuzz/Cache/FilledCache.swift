import CacheStore
import EntitySchema

/// A cache with a few records whose values repeat, are missing, or have another type than the schema says.
package enum FilledCache {
    package static let records = 40

    package static func made() throws -> TemporaryCache {
        let cache = try TemporaryCache.made()
        let orders = (0..<records).map(order).joined(separator: ",")
        let messages = (0..<records).map { number in
            #"{"id":"m\#(number)","order_id":"o\#(number % 9)","body":"word\#(number % 4) screen"}"#
        }.joined(separator: ",")
        try waiting {
            for (entity, list) in [("orders", orders), ("messages", messages)] {
                let page = PulledPage(entity: entity, records: "[\(list)]")
                _ = try await cache.store.apply(page, at: TemporaryCache.now)
            }
        }
        return cache
    }

    private static func order(_ number: Int) -> String {
        let status = ["\"open\"", "\"ready\"", "null", "7", "\"lost\""][number % 5]
        let total = ["12.50", "\"12.5\"", "0", "null", "1e3", "-3"][number % 6]
        let time = ["\"2026-11-0\(number % 9 + 1)T10:00:00Z\"", "null", "\"yesterday\"", "1795257720"][number % 4]
        return """
            {"id":"o\(number)","status":\(status),"total":\(total),"quantity":\(number % 3),"done":\(number % 2 == 0),\
            "notes":"screen \(number % 4) cracked","parts":[\(number)],"place":{"city":"B"},"created_at":\(time)}
            """
    }
}
