import Foundation
import JSONText
import Testing

/// The schema of a student's planner, tested with the built commands.
@Suite("Itori", .serialized)
struct ItoriTests {
    static let outline = SystemOutline(
        """
        courses id, title, updated_at
        tasks id, title, course_id?, module_ids, due?, due_time_minutes?, estimated_minutes, min_block_minutes, max_block_minutes, difficulty, importance, type, category?, locked, attachments, is_completed, grade_weight_percent?, grade_possible_points?, grade_earned_points?, notes?, recurrence?, recurrence_series_id?, recurrence_index?, alarm_date?, alarm_enabled, alarm_sound?, deleted_at?, needs_review, updated_at
        calendar_events id, title, start_date, end_date, is_all_day, notes?, course_id?, recurrence?, created_at, updated_at
        grades course_id, percent?, letter?, updated_at
        activities id, name, note?, course_id?, assignment_id?, study_category?, collection_id?, color_hex?, emoji?, is_pinned, created_at, updated_at
        """,
        relations: """
            courses/events courses/tasks courses/activities courses/grade tasks/course tasks/activities \
            calendar_events/course grades/course activities/course activities/assignment
            """)

    private func checks(_ shop: Shop) -> SystemChecks {
        SystemChecks(shop: shop, outline: Self.outline, keys: ["grades": "course_id"])
    }

    /// The upstream keeps the keys that clients assign, as an offline planner needs.
    private func with(_ body: (Shop) async throws -> Void) async throws {
        try await Shop.with("itori", serverIds: false) { try await body($0) }
    }

    @Test("every entity, field, relation and index is there", .timeLimit(.minutes(10)))
    func outline() async throws {
        try await with { shop in
            try Self.outline.check(against: try await shop.call("GET", "/openapi.json").body)
        }
    }

    @Test("records arrive byte for byte, with the spelling of their keys", .timeLimit(.minutes(10)))
    func pulls() async throws {
        try await with { shop in
            let secrets = try await checks(shop).pulls()
            #expect(secrets.allSatisfy { $0.value.isEmpty })
            let task = try #require(try await shop.admin("records/tasks").first?["id"]?.string)
            #expect(task == task.uppercased())
            let made = JSONText.object(["id": "6f9619ff-8B86-D011-b42d-00C04FC964ff", "title": "x", "type": "quiz"])
            #expect(try await shop.call("POST", "/v1/tasks", made).status == 201)
            #expect(try await shop.command("sync", "--wait").status == 0)
            let there = try await shop.admin("records/tasks")
            #expect(there.contains { $0["id"] == made["id"] })
            #expect(try await shop.call("GET", "/v1/tasks/\(made["id"]?.plain ?? "")").body["id"] == made["id"])
        }
    }

    @Test("records of every entity are created, changed and deleted offline, through a kill", .timeLimit(.minutes(5)))
    func roundTrips() async throws {
        try await with { shop in
            let checks = checks(shop)
            #expect(try await shop.command("sync", "--wait").status == 0)
            // A course has one grade, so the test needs a course without one.
            let course = try await freeCourse(shop)
            let grade = JSONText.object(["course_id": .string(course), "percent": 0, "letter": "F"])
            try await checks.roundTrips(Self.outline.entities.map(\.name), drafts: ["grades": grade])
        }
    }

    @Test("0 percent and no percent stay different, offline and on both sides", .timeLimit(.minutes(10)))
    func zero() async throws {
        try await with { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let course = try await freeCourse(shop)
            await shop.gateway.close()
            #expect(try await shop.command("create", "grades", "course_id=\(course)", "percent:=0").output == course)
            try await checks(shop).killAndSync()
            func there() async throws -> JSONText? {
                try await shop.admin("records/grades").first { $0["course_id"]?.string == course }?["percent"]
            }
            #expect(try await there() == 0)
            let zeros = try await shop.call("GET", "/v1/grades?percent=0").body["data"]?.elements ?? []
            #expect(zeros.contains { $0["course_id"]?.string == course })
            #expect(try await shop.command("set", "grades", course, "percent:=null").status == 0)
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await there() == .null)
            let shown = try await shop.call("GET", "/v1/courses/\(course)?include=grade").body
            #expect(shown.at(path: "_include.grade")?.elements.first?["percent"] == .null)
        }
    }

    @Test(
        "records that are missing from the full list are deleted here once the upstream denies each of them",
        .timeLimit(.minutes(10)))
    func fullSet() async throws {
        try await with { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let tasks = try await shop.admin("records/tasks").compactMap { $0["id"]?.string }
            _ = try await shop.admin("records/tasks/\(tasks[0])", "DELETE")
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.call("GET", "/v1/tasks/\(tasks[0])").status == 404)
            try await checks(shop).agrees(on: "tasks")
            for task in tasks.dropFirst() { _ = try await shop.admin("records/tasks/\(task)", "DELETE") }
            _ = try await shop.command("sync", "--wait")
            let left = try await shop.call("GET", "/v1/tasks?limit=1000").body["data"]?.elements ?? []
            #expect(left.isEmpty)
            try await checks(shop).agrees(on: "tasks")
        }
    }

    @Test("a lost database is rebuilt from the mirror", .timeLimit(.minutes(10)))
    func mirror() async throws {
        let settings = "log: { level: debug }\nmirror: { enabled: true, directory: FOLDER/mirror }"
        try await Shop.with("itori", serverIds: false, settings: settings) { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            let body = JSONText.object(["title": "Count the quokkas", "type": "reading"])
            let task = try #require(try await shop.call("POST", "/v1/tasks", body).body["id"]?.string)
            let mirror = shop.folder.appending(path: "mirror")
            repeat {
                _ = try await shop.daemonLine(containing: "wrote the mirror")
            } while try !String(contentsOf: mirror.appending(path: "tasks.json"), encoding: .utf8).contains(task)
            await shop.killDaemon()
            let state = shop.folder.appending(path: "state")
            for name in try FileManager.default.contentsOfDirectory(atPath: state.path) where name.contains(".db") {
                try FileManager.default.removeItem(at: state.appending(path: name))
            }
            let imported = try await shop.command("import-mirror")
            #expect(imported.status == 0 && imported.output.hasSuffix("and 1 queued change"), "\(imported.output)")
            try await shop.startDaemon()
            #expect(try await shop.call("GET", "/v1/tasks/\(task)").body["title"] == "Count the quokkas")
            let checks = checks(shop)
            try await checks.killAndSync()
            for entity in checks.synced { try await checks.agrees(on: entity) }
        }
    }

    @Test("records are found by words, and the commands work on them", .timeLimit(.minutes(10)))
    func commands() async throws {
        try await with { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await checks(shop).commands("tasks", text: "notes", creating: ["title=Read", "type=reading"])
            let list = try await shop.command("list", "grades")
            #expect(list.status == 0 && list.output.hasPrefix("course_id"))
        }
    }

    @Test("another account sees none of the records", .timeLimit(.minutes(10)))
    func otherStudent() async throws {
        try await TwoAccounts.seesNothing("itori", entities: ["courses", "tasks", "grades"])
    }

    /// A course without a grade.
    private func freeCourse(_ shop: Shop) async throws -> String {
        let graded = try await shop.admin("records/grades").compactMap { $0["course_id"]?.string }
        let courses = try await shop.admin("records/courses").compactMap { $0["id"]?.string }
        return try #require(courses.first { !graded.contains($0) })
    }
}
