import EntitySchema
import Testing

@testable import repairminder_sync

@Suite("The upstream of the demo")
struct DemoShopTests {
    private func upstream(_ more: String) throws -> UpstreamPlan {
        try EntitySchema(
            yaml: """
                schema: shop
                upstream:
                  base_url: "https://shop.example"
                \(more)
                entities:
                  orders: { fields: { id: { type: string } }, pull: { path: /orders } }
                """, file: "shop.yaml"
        ).upstream
    }

    @Test("No stored credential is needed, and none is sent")
    func headers() throws {
        let plan = try upstream("  headers: { X-App-Key: \"{$secret.app_key}\", X-Tenant: a }")
        #expect(plan.headerSecrets == ["app_key"])
        #expect(DemoShop.withoutCredentials(plan).headers.map(\.name) == ["X-Tenant"])
    }

    @Test("It signs in nowhere")
    func session() throws {
        let plan = try upstream("  auth: { client_credentials: { token_url: \"https://id.shop.example/token\" } }")
        #expect(plan.session != nil)
        #expect(DemoShop.withoutCredentials(plan).session == nil)
    }
}
