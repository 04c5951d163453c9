import Foundation
import JSONText
import Testing
import Upstream

/// The schema of a home's maintenance records, tested with the built commands.
@Suite("Propdocs", .serialized)
struct PropdocsTests {
    static let outline = SystemOutline(
        """
        users id, email, display_name?, subscription_tier (free, premium, professional), notification_preferences?
        properties id, owner_id, address, city, state, zip_code, square_footage, year_built, property_type (single_family, condo, townhouse), nickname?, health_score
        assets id, property_id, category (HVAC, Plumbing, Electrical, Appliance), type, make?, model?, serial_number?, location, installation_date?, purchase_cost?, warranty_expiration?, condition (excellent, good, fair, poor), health_score, is_ai_processed, ai_identified, notes?, created_at, updated_at
        maintenance_schedules id, asset_id, title, description, frequency (monthly, quarterly, annually, custom), interval_days?, next_due_date, is_active, is_ai_generated, priority (low, medium, high, critical), estimated_cost?, created_at, updated_at
        maintenance_tasks id, schedule_id, title, description?, due_date, completed_date?, status (pending, overdue, completed, skipped), priority (low, medium, high, critical), estimated_duration, actual_cost?, notes?, local_notification_id?, created_at, updated_at
        service_providers id, name, contact_name?, phone_number?, email?, website?, address?, rating?, specialties?, notes?, is_preferred, created_at
        service_records id, asset_id, task_id?, service_provider_id?, service_date, service_type (maintenance, repair, replacement, inspection), description, cost?, labor_cost?, parts_cost?, notes?, warranty_info?, created_at, updated_at
        property_reports id, property_id, title, generated_at, expires_at?, is_public, report_url?
        share_links id, report_id, expires_at?, is_active, created_at
        access_logs id, share_link_id, accessed_at, ip_address?, user_agent?
        asset_photos id, asset_id, remote_image_url?, caption?, is_primary, upload_status
        service_photos id, service_record_id, remote_image_url?, caption?, upload_status
        local_notifications id, task_id?, user_id?, title, body, scheduled_for, is_scheduled, is_delivered, notification_type
        """,
        relations: """
            users/properties properties/owner properties/assets properties/reports assets/property assets/schedules \
            assets/service_records assets/photos maintenance_schedules/asset maintenance_schedules/tasks \
            maintenance_tasks/schedule maintenance_tasks/service_record service_providers/service_records \
            service_records/asset service_records/task service_records/service_provider service_records/photos \
            property_reports/property property_reports/share_links share_links/report share_links/access_logs \
            access_logs/share_link asset_photos/asset service_photos/service_record \
            maintenance_tasks/notifications local_notifications/task users/notifications local_notifications/user
            """)

    private func checks(_ shop: Shop) -> SystemChecks {
        SystemChecks(
            shop: shop, outline: Self.outline, served: ["asset_photos.upload_status", "service_photos.upload_status"],
            locals: ["local_notifications"])
    }

    @Test("every entity, field, enum, relation and index is there", .timeLimit(.minutes(10)))
    func outline() async throws {
        try await Shop.with("propdocs", rows: 5) { shop in
            try Self.outline.check(against: try await shop.call("GET", "/openapi.json").body)
        }
    }

    @Test(
        "records arrive byte for byte; addresses, share links and access logs are on disk only as sealed",
        .timeLimit(.minutes(10)))
    func pulls() async throws {
        try await Shop.with("propdocs") { shop in
            #expect(try await checks(shop).pulls().filter { !$0.value.isEmpty } == [:])
            try await checks(shop).seals([
                "properties": ["address"], "service_providers": ["address"],
                "share_links": ["expires_at", "is_active", "created_at"],
                "access_logs": ["accessed_at", "ip_address", "user_agent"],
            ])
        }
    }

    @Test("records of every entity are created, changed and deleted offline, through a kill", .timeLimit(.minutes(5)))
    func roundTrips() async throws {
        try await Shop.with("propdocs") { shop in
            let checks = checks(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            // The user exists already: it is the account.
            // A task has one service record at most.
            let service = try await checks.draft(of: "service_records").setting("task_id", to: .null)
            try await checks.roundTrips(checks.synced.filter { $0 != "users" }, drafts: ["service_records": service])
            let user = try #require(try await shop.admin("records/users").first?["id"]?.string)
            await shop.gateway.close()
            let change = JSONText.object(["display_name": "Ada", "notification_preferences": .object(["push": false])])
            #expect(try await shop.call("PATCH", "/v1/users/\(user)", change).status == 200)
            #expect(try await shop.call("POST", "/v1/users", change).status == 405)
            try await checks.killAndSync()
            let there = try #require(try await shop.admin("records/users").first { $0["id"]?.string == user })
            #expect(there["display_name"] == "Ada" && there["notification_preferences"] == .object(["push": false]))
        }
    }

    @Test("a sealed field is found by its whole value, and by nothing else", .timeLimit(.minutes(10)))
    func sealed() async throws {
        try await Shop.with("propdocs") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let house = try #require(try await shop.admin("records/properties").first)
            let address = try #require(house["address"]?.string).replacing(" ", with: "%20")
            let found = try await shop.call("GET", "/v1/properties?address=\(address)").body["data"]?.elements ?? []
            #expect(
                found.contains { $0["id"] == house["id"] } && found.allSatisfy { $0["address"] == house["address"] })
            #expect(try await shop.call("GET", "/v1/properties?address.gte=A").status == 400)
            #expect(try await shop.call("GET", "/v1/properties?sort=address").status == 400)
        }
    }

    @Test("a task gets one service record; a second one is refused with 409", .timeLimit(.minutes(10)))
    func oneServiceRecord() async throws {
        try await Shop.with("propdocs") { shop in
            let checks = checks(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            let task = try await checks.draft(of: "maintenance_tasks")
            let made = try #require(try await shop.call("POST", "/v1/maintenance_tasks", task).body["id"])
            let service = try await checks.draft(of: "service_records").setting("task_id", to: made)
            #expect(try await shop.call("POST", "/v1/service_records", service).status == 201)
            #expect(try await shop.call("POST", "/v1/service_records", service).status == 409)
        }
    }

    @Test("a house with all its children is created offline and arrives in order", .timeLimit(.minutes(10)))
    func newHouse() async throws {
        try await Shop.with("propdocs") { shop in
            let checks = checks(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            let chain = [
                ("properties", "users", "owner_id"), ("assets", "properties", "property_id"),
                ("maintenance_schedules", "assets", "asset_id"),
                ("maintenance_tasks", "maintenance_schedules", "schedule_id"),
            ]
            var made = ["users": try #require(try await shop.admin("records/users").first?["id"])]
            for (entity, parent, field) in chain {
                let body = try await checks.draft(of: entity).setting(field, to: try #require(made[parent]))
                let answer = try await shop.call("POST", "/v1/\(entity)", body)
                made[entity] = answer.body["id"]
            }
            let done = JSONText.object(["status": "completed", "completed_date": "2026-05-01T10:00:00.000Z"])
            let task = made["maintenance_tasks"]?.plain ?? ""
            #expect(try await shop.call("PATCH", "/v1/maintenance_tasks/\(task)", done).status == 200)
            try await checks.killAndSync()
            let path = "/v1/maintenance_tasks/\(task)?include=schedule.asset.property"
            let there = try await shop.call("GET", path).body
            let house = there.at(path: "_include.schedule._include.asset._include.property")
            #expect(house?["owner_id"] == made["users"])
            #expect(there["status"] == "completed")
            for (entity, _, _) in chain { try await checks.agrees(on: entity) }
        }
    }

    @Test("a house is deleted with all its children, here at once and upstream later", .timeLimit(.minutes(10)))
    func cascade() async throws {
        try await Shop.with("propdocs") { shop in
            let checks = checks(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            let house = try #require(try await shop.admin("records/properties").first?["id"]?.string)
            await shop.gateway.close()
            #expect(try await shop.call("DELETE", "/v1/properties/\(house)").status == 204)
            let below = try await shop.call("GET", "/v1/assets?property_id=\(house)").body
            #expect(below["data"]?.elements.isEmpty == true)
            try await checks.killAndSync()
            for entity in checks.synced { try await checks.agrees(on: entity) }
            let there = try await shop.admin("records/assets")
            #expect(there.allSatisfy { $0["property_id"]?.string != house })
        }
    }

    @Test("a photo is downloaded on request; one uploaded offline survives a kill", .timeLimit(.minutes(10)))
    func photos() async throws {
        try await Shop.with("propdocs") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let theirs = try #require(try await shop.admin("records/asset_photos").first)
            let path = "/v1/asset_photos/\(theirs["id"]?.plain ?? "")"
            let small = try await shop.exchange("GET", "\(path)/thumbnail?size=64", [])
            #expect(small.status == 200 && small.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            await shop.gateway.close()
            let picture = try await shop.exchange("GET", "\(path)/content", []).body
            #expect(picture.count > small.body.count)
            let photo = JSONText.object(["asset_id": try #require(theirs["asset_id"]), "caption": "The boiler"])
            let made = try #require(try await shop.call("POST", "/v1/asset_photos", photo).body["id"]?.string)
            let source = BodySource(size: picture.count) { offset, count in Array(picture[offset..<(offset + count)]) }
            let put = try await shop.send("PUT", "/v1/asset_photos/\(made)/content", type: "image/png", source)
            #expect(put.status == 200)
            #expect(try await shop.call("GET", "/v1/asset_photos/\(made)").body["upload_status"] == "queued")
            await shop.killDaemon()
            try await shop.startDaemon()
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await shop.uploaded("asset_photos", made)
            let record = try await shop.call("GET", "/v1/asset_photos/\(made)").body
            let there = "/api/asset_photos/\(record["id"]?.plain ?? "")/content"
            #expect(try await shop.upstreamCall("GET", there).body == picture)
        }
    }

    @Test("a task that falls due gives one reminder, through a kill, until it is done", .timeLimit(.minutes(10)))
    func reminders() async throws {
        try await Shop.with("propdocs") { shop in
            let checks = checks(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            let soon = Date.now.addingTimeInterval(3600).formatted(.iso8601)
            let later = Date.now.addingTimeInterval(30 * 86_400).formatted(.iso8601)
            let body = try await checks.draft(of: "maintenance_tasks").setting("due_date", to: .string(soon))
                .setting("title", to: "Filter").setting("status", to: "pending")
            let task = try #require(try await shop.call("POST", "/v1/maintenance_tasks", body).body["id"]?.string)
            let due = try await reminder(of: task, becomes: "due", shop)
            #expect(due["text"] == "Filter is due")
            let notes = "/v1/maintenance_tasks/\(task)/notifications"
            let note = try await shop.call("GET", notes).body["data"]?.elements.first
            #expect(note?["title"] == "Filter is due" && note?["notification_type"] == "task_due")
            try await checks.killAndSync()
            let list = try await shop.call("GET", "/v1/reminders?limit=1000").body["data"]?.elements ?? []
            let now = try await shop.call("GET", "/v1/maintenance_tasks/\(task)").body["id"]
            #expect(list.filter { $0["record_id"] == now }.map { $0["state"] } == ["due"])
            await shop.gateway.close()
            let move = JSONText.object(["due_date": .string(later)])
            #expect(try await shop.call("PATCH", "/v1/maintenance_tasks/\(task)", move).status == 200)
            let id = try #require(due["id"]?.plain)
            #expect(try await shop.call("GET", "/v1/reminders/\(id)").body["state"] == "scheduled")
            let done = JSONText.object(["status": "completed"])
            #expect(try await shop.call("PATCH", "/v1/maintenance_tasks/\(task)", done).status == 200)
            #expect(try await shop.call("GET", "/v1/reminders/\(id)").status == 404)
            try await checks.killAndSync()
        }
    }

    /// Returns a task's reminder once it has reached a state.
    private func reminder(of task: String, becomes state: String, _ shop: Shop) async throws -> JSONText {
        try await waitForReminder(of: task, becomes: state) { try await shop.call("GET", $0).body }
    }

    @Test("the dashboard counts completed services, offline too", .timeLimit(.minutes(10)))
    func dashboard() async throws {
        try await Shop.with("propdocs") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            var body = try await checks(shop).draft(of: "service_records")
            let today = try #require(try await shop.call("GET", "/v1/dashboard?period=today").body["from"])
            body = body.setting("service_date", to: today).setting("cost", to: try JSONText(parsing: "129.90"))
            #expect(try await shop.call("POST", "/v1/service_records", body).status == 201)
            let figures = try await shop.call("GET", "/v1/dashboard?period=today").body
            #expect(figures.at(path: "services.current.count") == 1)
            #expect(figures.at(path: "spent.current.total")?.text == "129.90")
        }
    }

    @Test("records are found by words and parts of numbers, and the commands work on them", .timeLimit(.minutes(10)))
    func commands() async throws {
        try await Shop.with("propdocs") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let asset = try #require(try await shop.admin("records/assets").first { $0["serial_number"] != .null })
            let part = (asset["serial_number"]?.plain ?? "").dropFirst(2).prefix(4)
            let found = try await shop.call("GET", "/v1/assets?q=\(part)").body["data"]?.elements ?? []
            #expect(found.contains { $0["id"] == asset["id"] })
            let property = asset["property_id"]?.plain ?? ""
            try await checks(shop).commands(
                "assets", text: "notes",
                creating: [
                    "property_id=\(property)", "category=HVAC", "type=Boiler", "location=Attic", "condition=good",
                ])
            #expect(try await shop.run(["create", "assets", "property_id=\(property)", "category=Roof"]).status == 65)
        }
    }

    @Test("another account sees none of the records", .timeLimit(.minutes(10)))
    func otherUser() async throws {
        try await TwoAccounts.seesNothing("propdocs", entities: ["properties", "assets", "share_links"])
    }
}
