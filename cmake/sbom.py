#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a built libvscan.so is made of, as SPDX 2.3 in JSON, to standard output.

    sbom.py VERSION COMMIT BACKENDS LIBRARY [ADD-ON...]

BACKENDS is the build's VSCAN_BACKENDS. An add-on is a library that is linked with LIBRARY. SOURCE_DATE_EPOCH is the
time that it names.
"""
import datetime
import hashlib
import json
import os
import re
import sys

version, commit, backends, library, *add_ons = sys.argv[1:]
created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def spdx_id(name):
    return "SPDXRef-" + name.replace("_", "-")  # letters, digits, dots and hyphens


def package(name, supplier, licence, copyright, **more):
    return {"name": name, "SPDXID": spdx_id(name), "supplier": supplier, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": copyright, "primaryPackagePurpose": "LIBRARY", **more}


def ours(path):
    file = os.path.basename(path)
    return package(file.removesuffix(".so"), "Organization: libvscan maintainers", "Apache-2.0",
                   "2026 the libvscan maintainers", versionInfo=version, packageFileName=file,
                   sourceInfo=f"commit {commit}; {backends}",
                   checksums=[{"algorithm": "SHA256", "checksumValue": sha256(path)}])


def relation(one, kind, other):
    return {"spdxElementId": spdx_id(one), "relationshipType": kind, "relatedSpdxElement": spdx_id(other)}


document = {
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"libvscan-{version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/libvscan-{version}-{sha256(library)}",
    "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: libvscan-cmake-sbom.py"]},
    "packages": [
        ours(library),
        package("glibc", "NOASSERTION", "NOASSERTION", "NOASSERTION", comment="2.34 or later, of the system"),
    ],
    "relationships": [
        relation("DOCUMENT", "DESCRIBES", "libvscan"),
        relation("libvscan", "DYNAMIC_LINK", "glibc"),
    ],
}
for path in add_ons:
    document["packages"].append(ours(path))
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
