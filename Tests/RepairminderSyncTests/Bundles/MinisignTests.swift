import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Signatures of minisign") struct MinisignTests {
    private static let bundles = [SignedBundle.twelve, .twelveInOldForm, .thirteen]

    private func check(_ text: String, _ signature: String, key: String = SignedBundle.key) throws -> String {
        let signature = try #require(MinisignSignature(signature))
        return try signature.check(Array(text.utf8), try #require(MinisignKey(key)))
    }

    @Test("what minisign has signed is accepted, in its new and its old form", arguments: 0..<3)
    func accepted(_ index: Int) throws {
        let bundle = Self.bundles[index]
        #expect(try check(bundle.text, bundle.signature) == ["shops, 12", "old form", "shops, 13"][index])
        #expect(try check(bundle.text, bundle.signature.replacing("\n", with: "\r\n")) != "")
    }

    @Test("another file, or one with another byte, is refused", arguments: 0..<3)
    func otherFile(_ index: Int) throws {
        let bundle = Self.bundles[index]
        for text in [
            bundle.text + " ", String(bundle.text.dropLast()), "", bundle.text.replacing("shop", with: "shoq"),
        ] {
            let error = #expect(throws: BundleError.self) { try check(text, bundle.signature) }
            #expect(error?.problem.hasPrefix("the signature does not fit") == true)
        }
    }

    @Test("a trusted comment that was changed is refused")
    func otherComment() {
        let bundle = SignedBundle.twelve
        let error = #expect(throws: BundleError.self) {
            try check(bundle.text, bundle.signature.replacing("shops, 12", with: "shops, 13"))
        }
        #expect(error?.problem == "the signature of the trusted comment does not fit")
    }

    @Test("the signature of another key is refused, and both are named as minisign names them")
    func otherKey() {
        let other = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
        let bundle = SignedBundle.twelve
        let error = #expect(throws: BundleError.self) { try check(bundle.text, bundle.signature, key: other) }
        #expect(error?.problem == "it is signed with the key 86AE8E4507D9B044, not with E7620F1842B4E81F")
    }

    @Test(
        "what is no key or no signature is refused",
        arguments: ["", "RWQ", "untrusted comment: minisign public key", "RWREsNkHRY6uhoI5zV4N2unzs46oZ0peKSe3J61O"])
    func garbage(_ text: String) {
        #expect(MinisignKey(text) == nil)
        #expect(MinisignSignature(text) == nil)
        #expect(MinisignSignature("untrusted comment: x\n\(text)\ntrusted comment: x\n\(text)\n") == nil)
    }
}
