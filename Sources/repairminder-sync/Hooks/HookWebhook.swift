import CacheStore
import EntitySchema
import Foundation
import JSONText
import Secrets
import SyncEngine
import Upstream

/// Posts each event as JSON to a URL on this machine, signed as [Standard Webhooks](https://www.standardwebhooks.com) say. Of
/// a reminder that is due, only the reminder is posted. Any status from 200 to 299 is success; redirects are not followed.
struct HookWebhook: Sendable {
    let url: String
    /// Read for each attempt, so that a new secret counts at once. Nil for what is not signed.
    let secrets: SignalSecrets?
    let deadline: Duration
    let transport: any HTTPTransport
    let now: @Sendable () -> Timestamp

    func send(_ delivery: HookDelivery) async throws {
        let response: HTTPResponse
        do {
            let request = try request(delivery)
            response = try await transport.send(request)
        } catch let error as TokenFileError {
            throw HookFailure(message: error.message)
        } catch let error as TransportError {
            throw HookFailure(message: "\(url) did not accept the event (\(error.reason)); check the hook's webhook")
        }
        guard (200...299).contains(response.status) else {
            throw HookFailure(message: "\(url) returned status \(response.status)")
        }
    }

    private func request(_ delivery: HookDelivery) throws -> HTTPRequest {
        let body = Array((delivery.reminder?.document ?? delivery.document).bytes)
        var headers = [
            HTTPHeader("Content-Type", "application/json"), HTTPHeader("Idempotency-Key", delivery.key),
        ]
        if let secrets {
            let time = "\(now().milliseconds / 1000)"
            let signatures = try secrets.read().map { secret in
                Self.signature(of: body, id: delivery.key, time: time, secret: secret)
            }
            headers += [
                HTTPHeader("webhook-id", delivery.key), HTTPHeader("webhook-timestamp", time),
                HTTPHeader("webhook-signature", signatures.joined(separator: " ")),
            ]
        }
        return HTTPRequest(method: "POST", url: url, headers: headers, body: body, deadline: deadline)
    }

    /// HMAC-SHA256 over `ID.TIME.BODY`.
    static func signature(of body: [UInt8], id: String, time: String, secret: [UInt8]) -> String {
        let code = MessageSignature(secret: secret).sha256(of: Array("\(id).\(time).".utf8) + body)
        return "v1,\(Data(code).base64EncodedString())"
    }
}
