// swift-tools-version: 6.2

import PackageDescription

/// The settings of every target, besides Swift 6 mode: warnings are errors, and every import is explicit.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// For the modules that answer requests: an async function runs where its caller does. Otherwise each call of one on the
/// way to the answer would leave the connection's actor and come back, at the price of parsing a header field each.
let onTheCaller: [SwiftSetting] = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "repairminder-sync",
    products: [.library(name: "RepairminderClient", targets: ["RepairminderClient"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // No traits, so no file formats: Yams parses the file, because it reports the line of a mistake.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "SystemCalls", swiftSettings: strict),
        .target(name: "Turns", swiftSettings: strict),
        .target(name: "JSONText", swiftSettings: strict),
        .target(
            name: "EntitySchema",
            dependencies: ["JSONText", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict),
        .target(
            name: "Secrets",
            dependencies: ["JSONText", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "CSQLite", "EntitySchema", "JSONText", "SystemCalls", "Turns",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "SchemaDraft",
            dependencies: ["EntitySchema", "JSONText", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict),
        .target(
            name: "ShippedSchemas", resources: [.embedInCode("Schemas")], swiftSettings: strict),
        // The runtime of generated Python is a file that people can read and check.
        .target(
            name: "ClientGenerator", dependencies: ["EntitySchema", "JSONText"], resources: [.embedInCode("Runtime")],
            swiftSettings: strict),
        .target(name: "SchemaDrift", dependencies: ["EntitySchema", "JSONText"], swiftSettings: strict),
        .target(
            name: "CacheStore",
            dependencies: [
                "EntitySchema", "JSONText", "SQLiteStore", "SchemaDrift", "Secrets", "SystemCalls", "Turns",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "ContentStore",
            dependencies: [
                "EntitySchema", "Pictures", "SystemCalls", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .systemLibrary(name: "CGD", providers: [.apt(["libgd-dev"])]),
        .target(
            name: "Pictures", dependencies: ["CGD", "CLinux", "SystemCalls", "Turns"], swiftSettings: strict),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "Upstream",
            dependencies: [
                "CCurl", "EntitySchema", "JSONText", "SystemCalls", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "SyncEngine",
            dependencies: [
                "CacheStore", "ContentStore", "EntitySchema", "JSONText", "SQLiteStore", "SchemaDrift", "Turns",
                "Upstream", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(
            name: "Standby",
            dependencies: ["EntitySchema", "JSONText", "Upstream", .product(name: "Logging", package: "swift-log")],
            swiftSettings: strict),
        .systemLibrary(name: "CLinux"),
        .target(name: "NetworkMonitor", dependencies: ["CLinux", "SystemCalls"], swiftSettings: strict),
        .target(name: "CallerLookup", dependencies: ["CLinux", "SystemCalls"], swiftSettings: strict),
        .target(name: "ServiceManager", swiftSettings: strict),
        .target(name: "ResidentMemory", dependencies: ["CLinux"], swiftSettings: strict),
        .target(
            name: "SocketServer", dependencies: ["CLinux", "JSONText", "SystemCalls", "Turns"],
            swiftSettings: onTheCaller),
        .target(
            name: "LocalAPIServer",
            dependencies: [
                "CZlib", "CacheStore", "CallerLookup", "ContentStore", "EntitySchema", "JSONText", "LocalAPI",
                "Pictures",
                "SQLiteStore", "SchemaDrift", "SocketServer", "SyncEngine",
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.embedInCode("Page/Files")], swiftSettings: onTheCaller),
        .target(name: "LocalAPI", dependencies: ["JSONText"], swiftSettings: strict),
        .executableTarget(
            name: "repairminder-sync",
            dependencies: [
                "CLinux", "CacheStore", "CallerLookup", "ClientGenerator", "ContentStore", "EntitySchema", "JSONText",
                "LocalAPI", "LocalAPIServer", "NetworkMonitor", "Pictures", "ResidentMemory", "SQLiteStore",
                "ReferenceUpstream", "SchemaDraft", "SchemaDrift", "Secrets", "ServiceManager", "ShippedSchemas",
                "SocketServer", "Standby", "SyncEngine", "SystemCalls", "Upstream",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "ReferenceUpstream",
            dependencies: ["CZlib", "EntitySchema", "JSONText", "SocketServer"],
            swiftSettings: strict),
        .executableTarget(
            name: "repairminder-upstream",
            dependencies: [
                "EntitySchema", "JSONText", "ReferenceUpstream", "ShippedSchemas", "SocketServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "bench-server", dependencies: ["JSONText", "SocketServer"], swiftSettings: strict),
        // The library for other programs, with no dependency but Foundation, and the example of its guide.
        .target(name: "RepairminderClient", swiftSettings: strict),
        .executableTarget(name: "ticket-screen", dependencies: ["RepairminderClient"], swiftSettings: strict),

        // What the tests of several targets share.
        .target(
            name: "TestSupport",
            dependencies: [
                "CacheStore", "EntitySchema", "JSONText", "ReferenceUpstream", "SQLiteStore", "Secrets", "SocketServer",
                "Upstream", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText"], swiftSettings: strict),
        .testTarget(name: "SecretsTests", dependencies: ["JSONText", "Secrets"], swiftSettings: strict),
        .testTarget(
            name: "ContentStoreTests", dependencies: ["ContentStore", "EntitySchema", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PicturesTests", dependencies: ["CGD", "CLinux", "Pictures", "repairminder-sync"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("gd")]),
        .testTarget(
            name: "ClientGeneratorTests", dependencies: ["ClientGenerator", "EntitySchema", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "EntitySchemaTests", dependencies: ["EntitySchema", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SchemaDraftTests",
            dependencies: [
                "CacheStore", "EntitySchema", "JSONText", "ReferenceUpstream", "SchemaDraft", "SyncEngine", "Upstream",
                "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Documents"], swiftSettings: strict),
        .testTarget(
            name: "SyncEngineTests",
            dependencies: [
                "CacheStore", "SQLiteStore", "SchemaDrift", "ContentStore", "EntitySchema", "JSONText", "Secrets",
                "SyncEngine", "Upstream",
                "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LocalAPIServerTests",
            dependencies: [
                "CacheStore", "SQLiteStore", "CallerLookup", "ContentStore", "EntitySchema", "JSONText", "LocalAPI",
                "LocalAPIServer", "Pictures",
                "ReferenceUpstream", "Secrets",
                "SocketServer", "SyncEngine", "Upstream", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(name: "RepairminderClientTests", dependencies: ["RepairminderClient"], swiftSettings: strict),
        .testTarget(name: "LocalAPITests", dependencies: ["JSONText", "LocalAPI"], swiftSettings: strict),
        .testTarget(
            name: "RepairminderSyncTests",
            dependencies: [
                "CLinux", "CacheStore", "ClientGenerator", "ContentStore", "EntitySchema", "JSONText", "LocalAPI",
                "LocalAPIServer", "Secrets", "SocketServer", "SyncEngine", "Upstream",
                "repairminder-sync",
                "TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"), .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ReferenceUpstreamTests",
            dependencies: [
                "CZlib", "EntitySchema", "JSONText", "ReferenceUpstream", "SocketServer", "Upstream", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "JSONText", "RepairminderClient", "SocketServer", "Upstream", "repairminder-sync",
                "repairminder-upstream",
                "ticket-screen",
                "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "CacheStore", "EntitySchema", "JSONText", "ReferenceUpstream", "SQLiteStore", "Secrets",
                "SocketServer", "SyncEngine",
                "Upstream",
                "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StandbyTests",
            dependencies: [
                "EntitySchema", "JSONText", "Standby", "Upstream", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "NetworkMonitorTests", dependencies: ["CLinux", "NetworkMonitor", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ServiceManagerTests", dependencies: ["ServiceManager", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "ResidentMemoryTests", dependencies: ["ResidentMemory"], swiftSettings: strict),
        .testTarget(name: "CallerLookupTests", dependencies: ["CallerLookup"], swiftSettings: strict),
        .testTarget(name: "SocketServerTests", dependencies: ["SocketServer", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "UpstreamTests",
            dependencies: ["EntitySchema", "JSONText", "ReferenceUpstream", "SocketServer", "Upstream", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "CacheStoreTests",
            dependencies: [
                "CacheStore", "SQLiteStore", "SchemaDrift", "Secrets", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
    ]
)

// For Fuzz/run alone, which builds them and all below them with sanitizers, and links each with libFuzzer.
if Context.environment["FUZZ"] != nil {
    let stores: [Target.Dependency] = ["CacheStore", "EntitySchema", "FuzzedCache", "JSONText", "SQLiteStore"]
    let fuzzed: [(name: String, folder: String, dependencies: [Target.Dependency])] = [
        ("fuzz-request", "Request", ["SocketServer"]), ("fuzz-schema", "Schema", ["EntitySchema"]),
        ("fuzz-page", "Page", stores + ["Upstream"]), ("fuzz-cursor", "Cursor", stores),
        ("fuzz-list", "List", stores + ["LocalAPIServer", "SocketServer"]),
    ]
    for (name, folder, dependencies) in fuzzed {
        package.targets.append(
            .target(name: name, dependencies: dependencies, path: "Fuzz/\(folder)", swiftSettings: strict))
        package.products.append(.library(name: name, type: .static, targets: [name]))
    }
    package.targets.append(
        .target(
            name: "FuzzedCache", dependencies: ["CacheStore", "EntitySchema", "Secrets"], path: "Fuzz/Cache",
            swiftSettings: strict))
}

// For scripts/check and scripts/mutants, which name the only test targets to build.
if let names = Context.environment["TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
