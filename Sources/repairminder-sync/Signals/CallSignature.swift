import EntitySchema
import Foundation
import JSONText
import Secrets
import SocketServer

/// Checks the signature of one call that the upstream makes, as the schema describes it.
struct CallSignature {
    let plan: SignalWebhook.Signature
    let secrets: [[UInt8]]
    let now: Timestamp

    /// Several signatures in one header, as while a secret is replaced.
    private static let mostSignatures = 10

    func isValid(_ request: Request) -> Bool {
        guard let codes = texts(of: plan.header, prefix: plan.prefix, in: request) else { return false }
        if plan.algorithm == .token {
            return codes.contains { text in isKnown { $0.isSecret(Array(text.utf8)) } }
        }
        var time: String?
        if let plan = plan.time {
            time = texts(of: plan.header, prefix: plan.prefix, in: request)?.first
            guard let time, isRecent(time, plan.tolerance) else { return false }
        }
        guard let message = message(of: request, time) else { return false }
        let given = codes.compactMap(decoded)
        return isKnown { signature in
            plan.algorithm == .sha512
                ? signature.isValidSHA512(given, of: message) : signature.isValidSHA256(given, of: message)
        }
    }

    private func isKnown(_ fits: (MessageSignature) -> Bool) -> Bool {
        secrets.contains { fits(MessageSignature(secret: $0)) }
    }

    /// What a header has after the prefix: as a whole, or in parts between commas or spaces (`t=12,v1=ab`). Nil if there
    /// is no such header, or more than one.
    private func texts(of header: String, prefix: String, in request: Request) -> [String]? {
        guard let value = request.headers[single: header] else { return nil }
        let parts = [[value[...]], value.split(separator: ","), value.split(separator: " ")].joined()
        let texts = parts.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(prefix) }.map {
            String($0.dropFirst(prefix.count))
        }
        return Array(texts.sorted { $0.count < $1.count }.prefix(Self.mostSignatures))
    }

    private func decoded(_ text: String) -> [UInt8]? {
        switch plan.format {
        case .base64: Data(base64Encoded: text).map { Array($0) }
        case .hex: Self.bytes(hex: text)
        }
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// Seconds or milliseconds since 1970, or ISO 8601.
    private func isRecent(_ text: String, _ tolerance: Duration) -> Bool {
        let number = (try? JSONText(parsing: text)).flatMap { $0.kind == .number ? $0.changeTime : nil }
        guard let time = number ?? JSONText.string(text).changeTime else { return false }
        let age = now.since(time)
        return age <= tolerance && age >= .zero - tolerance
    }

    /// What is signed; nil if the call lacks a part of it.
    private func message(of request: Request, _ time: String?) -> [UInt8]? {
        var message: [UInt8] = []
        for part in plan.over.parts {
            switch part {
            case .text(let text): message += text.utf8
            case .placeholder(let placeholder):
                guard case .value(let name) = placeholder.name else { return nil }
                switch name {
                case "body": message += request.body
                case "timestamp":
                    guard let time else { return nil }
                    message += time.utf8
                default:
                    guard let value = request.headers[single: String(name.dropFirst("header.".count))] else {
                        return nil
                    }
                    message += value.utf8
                }
            }
        }
        return message
    }
}
