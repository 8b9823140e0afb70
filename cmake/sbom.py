#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a built libvscan.so is made of, as SPDX 2.3 in JSON, to standard output.

    sbom.py VERSION COMMIT BACKENDS LIBRARY [ADD-ON...]

BACKENDS is the build's VSCAN_BACKENDS. An add-on is the name of a library that is linked with LIBRARY; its
bytes are not those of every package, for some have a path in it. SOURCE_DATE_EPOCH is the time that it names.
"""
import datetime
import hashlib
import json
import os
import re
import sys

version, commit, backends, library, *add_ons = sys.argv[1:]
with open(library, "rb") as file:
    digest = hashlib.sha256(file.read()).hexdigest()
created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)


def spdx_id(name):
    return "SPDXRef-" + name.replace("_", "-")  # letters, digits, dots and hyphens


def package(name, supplier, licence, copyright, **more):
    return {"name": name, "SPDXID": spdx_id(name), "supplier": supplier, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": copyright, "primaryPackagePurpose": "LIBRARY", **more}


def ours(file, **more):
    return package(file.removesuffix(".so"), "Organization: libvscan maintainers", "Apache-2.0",
                   "2026 the libvscan maintainers", versionInfo=version, packageFileName=file,
                   sourceInfo=f"commit {commit}; {backends}", **more)


def relation(one, kind, other):
    return {"spdxElementId": spdx_id(one), "relationshipType": kind, "relatedSpdxElement": spdx_id(other)}


document = {
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"libvscan-{version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/libvscan-{version}-{digest}",
    "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: libvscan-cmake-sbom.py"]},
    "packages": [
        ours("libvscan.so", checksums=[{"algorithm": "SHA256", "checksumValue": digest}]),
        package("glibc", "NOASSERTION", "NOASSERTION", "NOASSERTION", comment="2.34 or later, of the system"),
    ],
    "relationships": [
        relation("DOCUMENT", "DESCRIBES", "libvscan"),
        relation("libvscan", "DYNAMIC_LINK", "glibc"),
    ],
}
for file in add_ons:
    document["packages"].append(ours(file))
    name = document["packages"][-1]["name"]
    document["relationships"] += [relation("DOCUMENT", "DESCRIBES", name), relation(name, "DYNAMIC_LINK", "libvscan")]
cudart = re.search(r"runtime ([0-9.]+)", backends) or re.search(r"nvcc ([0-9.]+)", backends)
if cudart:
    licence = "LicenseRef-NVIDIA-SDK"
    document["packages"].append(
        package("cudart-static", "Organization: NVIDIA Corporation", licence, "NVIDIA Corporation",
                versionInfo=cudart[1], comment="libcudart_static.a of the CUDA Toolkit of this version"))
    document["relationships"].append(relation("libvscan", "STATIC_LINK", "cudart-static"))
    document["hasExtractedLicensingInfos"] = [{
        "licenseId": licence, "name": "License Agreement for NVIDIA Software Development Kits",
        "extractedText": "See https://docs.nvidia.com/cuda/eula/.",
        "seeAlsos": ["https://docs.nvidia.com/cuda/eula/"]}]
json.dump(document, sys.stdout, indent=1)
print()
