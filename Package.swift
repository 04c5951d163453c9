// swift-tools-version: 6.2

import PackageDescription

/// Every target of ours: the newest language mode, no warnings, no hidden imports.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "repairminder-sync",
    dependencies: [
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2")
    ],
    targets: [
        .target(name: "JSONText", swiftSettings: strict),
        .target(
            name: "EntitySchema",
            dependencies: ["JSONText", .product(name: "Yams", package: "Yams")],
            swiftSettings: strict),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "Upstream", dependencies: ["CCurl", "EntitySchema", "JSONText"], swiftSettings: strict),
        .systemLibrary(name: "CLinux"),
        .target(name: "SocketServer", dependencies: ["CLinux"], swiftSettings: strict),

        .testTarget(name: "JSONTextTests", dependencies: ["JSONText"], swiftSettings: strict),
        .testTarget(name: "EntitySchemaTests", dependencies: ["EntitySchema"], swiftSettings: strict),
        .testTarget(name: "UpstreamTests", dependencies: ["Upstream"], swiftSettings: strict),
        .testTarget(name: "SocketServerTests", dependencies: ["SocketServer"], swiftSettings: strict),
    ]
)
