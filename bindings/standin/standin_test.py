# Tests of CUDA programs under `warptime run`: the driver's functions, faults, crashes, loops and child processes.
# SPDX-License-Identifier: Apache-2.0
"""Run as `standin_test.py PATH_OF_WARPTIME`. Needs nvcc, nvdisasm and cuobjdump, and no GPU."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

SOURCE = Path(__file__).resolve().parent / "driver_program.cu"
ADDITION = ["memcpy", "memcpy", "add", "memcpy"]
OPENS_THE_DRIVER = """
#include <dlfcn.h>
int main() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* function = driver == nullptr ? nullptr : dlsym(driver, "cuInit");
    return function == nullptr ? 1 : reinterpret_cast<int (*)(unsigned)>(function)(0);
}
"""

TELLS_THE_SMS = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void kernel(int* x) { x[threadIdx.x] = 1; }
int main() {
    int sms = 0;
    int* x = nullptr;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaMalloc(&x, 128);
    kernel<<<1, 32>>>(x);
    std::fprintf(stderr, "%d sms\\n", sms);
    return cudaDeviceSynchronize();
}
"""

READS_THE_CLOCK = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void kernel(long long* x) {
    const long long begin = clock64();
    __syncthreads();
    x[threadIdx.x] = clock64() - begin;
}
int main() {
    long long* x = nullptr;
    long long first = 0;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    kernel<<<1, 32>>>(x);
    cudaMemcpy(&first, x, 8, cudaMemcpyDeviceToHost);
    std::fprintf(stderr, "%lld cycles\\n", first);
    return 0;
}
"""

ASKS_AS_LIBRARIES_DO = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void kernel(int* x) { x[threadIdx.x] = 1; }
#define EXPECT(what) if (!(what)) { std::fprintf(stderr, "wrong: %s\\n", #what); return 1; }
int main() {
    cudaDeviceProp of_device;
    EXPECT(cudaGetDeviceProperties(&of_device, 0) == cudaSuccess)
    EXPECT(of_device.multiProcessorCount == 132 && of_device.maxThreadsPerMultiProcessor == 2048)
    EXPECT(of_device.sharedMemPerBlockOptin == 232448 && of_device.regsPerMultiprocessor == 65536)
    EXPECT(of_device.maxBlocksPerMultiProcessor == 32 && of_device.reservedSharedMemPerBlock == 1024)
    int *x = nullptr, *pinned = nullptr, own = 0;
    EXPECT(cudaMalloc(&x, 128) == cudaSuccess && cudaMallocHost(&pinned, 128) == cudaSuccess)
    cudaPointerAttributes known;
    EXPECT(cudaPointerGetAttributes(&known, x + 1) == cudaSuccess && known.type == cudaMemoryTypeDevice)
    EXPECT(known.devicePointer == x + 1 && known.hostPointer == nullptr && known.device == 0)
    EXPECT(cudaPointerGetAttributes(&known, pinned) == cudaSuccess && known.type == cudaMemoryTypeHost)
    EXPECT(cudaPointerGetAttributes(&known, &own) == cudaSuccess && known.type == cudaMemoryTypeUnregistered)
    cudaStream_t stream;
    int least = 1, greatest = 1, priority = 1, peer = 1;
    EXPECT(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess && greatest <= least)
    EXPECT(cudaStreamCreateWithPriority(&stream, 0, greatest) == cudaSuccess)
    EXPECT(cudaStreamGetPriority(stream, &priority) == cudaSuccess && priority == greatest)
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    EXPECT(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess && mode == cudaStreamCaptureModeGlobal)
    EXPECT(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess && mode == cudaStreamCaptureModeRelaxed)
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    EXPECT(cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone)
    EXPECT(cudaDeviceCanAccessPeer(&peer, 0, 0) == cudaSuccess && peer == 0)
    char bus[32] = "";
    EXPECT(cudaDeviceGetPCIBusId(bus, 32, 0) == cudaSuccess && bus[4] == ':')
    EXPECT(cudaDeviceGetPCIBusId(bus, 0, 0) == cudaErrorInvalidValue)
    EXPECT(cudaGetDeviceProperties(&of_device, 1) != cudaSuccess)
    kernel<<<1, 32, 0, stream>>>(x);
    EXPECT(cudaLaunchHostFunc(stream, [](void* place) { *static_cast<int*>(place) = 7; }, &own) == cudaSuccess)
    EXPECT(own == 7 && cudaLaunchHostFunc(stream, nullptr, &own) == cudaErrorInvalidValue)
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported)
    EXPECT(cudaGetLastError() != cudaSuccess && cudaDeviceSynchronize() == cudaSuccess)
    std::fprintf(stderr, "right\\n");
    return 0;
}
"""


def program() -> str:
    return os.environ["WARPTIME_PROGRAM"]


def find_tool(name: str) -> str | None:
    """As the program looks for it, but for Python's packages."""
    given = os.environ.get(f"WARPTIME_{name.upper()}")
    folders = [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    if "CUDA_HOME" in os.environ:
        folders.insert(1, os.environ["CUDA_HOME"] + "/bin")
    return given or shutil.which(name, path=os.pathsep.join(folders))


class Programs(unittest.TestCase):
    folder: ClassVar[Path]
    environment: ClassVar[dict[str, str]]

    @classmethod
    def setUpClass(cls) -> None:
        if find_tool("nvcc") is None:
            raise unittest.SkipTest("no nvcc: these tests compile CUDA programs")
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        libraries = [
            str(Path(find_tool("nvcc") or "").resolve().parents[1] / "lib64"),
            os.environ.get("LD_LIBRARY_PATH"),
        ]
        cls.environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(cls.folder / "cache"),
            "LD_LIBRARY_PATH": os.pathsep.join(library for library in libraries if library),
        }
        cls.compile("static", str(SOURCE), "-lcuda")
        cls.compile("shared", str(SOURCE), "-lcuda", "-cudart", "shared")
        for kind in ["cubin", "ptx", "fatbin"]:
            cls.compile(f"image.{kind}", str(SOURCE), f"-{kind}")
        (cls.folder / "opens.cpp").write_text(OPENS_THE_DRIVER)
        (cls.folder / "sms.cu").write_text(TELLS_THE_SMS)
        cls.compile("sms", str(cls.folder / "sms.cu"))
        (cls.folder / "clock.cu").write_text(READS_THE_CLOCK)
        cls.compile("clock", str(cls.folder / "clock.cu"))
        (cls.folder / "asks.cu").write_text(ASKS_AS_LIBRARIES_DO)
        for linked in ["static", "shared"]:
            cls.compile(f"asks_{linked}", str(cls.folder / "asks.cu"), "-cudart", linked)
        cls.compile("opens", str(cls.folder / "opens.cpp"), "-cudart", "none", "-ldl")

    @classmethod
    def compile(cls, output: str, *arguments: str) -> None:
        command = [find_tool("nvcc") or "nvcc", "-std=c++17", "-arch=sm_90a", "-o", str(cls.folder / output)]
        result = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300, check=False)
        if "cannot find -lcuda" in result.stderr:
            raise unittest.SkipTest("no stub of libcuda.so to link with")
        if result.returncode != 0:
            raise AssertionError(result.stderr)

    def start(self, *command: str, options: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program(), "run", "--gpu", "h200-sxm", "--json", *options, "--", *command],
            cwd=self.folder, env={**self.environment, **variables},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def launches(self, result: subprocess.CompletedProcess[str], code: int) -> list[dict[str, Any]]:
        """What was launched and copied; each has a time or says why not."""
        self.assertEqual(result.returncode, code, result.stderr)
        launches: list[dict[str, Any]] = json.loads(result.stdout)["launches"]
        for launch in launches:
            if launch["error"] == "":
                self.assertGreater(launch["time_us"], 0)
                self.assertLessEqual(launch["low_us"], launch["time_us"])
            else:
                self.assertIsNone(launch["time_us"])
        return launches

    def names(self, launches: list[dict[str, Any]]) -> list[str]:
        return [launch["kernel"] if launch["kind"] == "kernel" else launch["kind"] for launch in launches]

    def right(self, scenario: str, linked: str = "static", image: str = "image.cubin") -> list[dict[str, Any]]:
        result = self.start(f"./{linked}", scenario, image)
        self.assertIn("right\n", result.stderr)
        return self.launches(result, 0)

    def test_modules_of_every_kind(self) -> None:
        for linked, image in [("static", "cubin"), ("static", "ptx"), ("static", "fatbin"), ("shared", "cubin")]:
            with self.subTest(linked=linked, image=image):
                launches = self.right("modules", linked, f"image.{image}")
                kernels = [launch for launch in launches if launch["kind"] == "kernel"]
                self.assertEqual(self.names(kernels), ["add", "add", "mixed", "reverse"])
                self.assertEqual((kernels[0]["grid"], kernels[0]["block"]), ("8x1x1", "128x1x1"))
                self.assertEqual(kernels[3]["dynamic_shared"], 100 << 10)

    def test_memory(self) -> None:
        launches = self.right("memory")
        kinds = [(launch["kind"], launch["kernel"].split()[0]) for launch in launches]
        self.assertEqual(kinds.count(("memset", "device")), 3)
        self.assertEqual(kinds.count(("memcpy", "device")), 2)
        # From and to pinned memory.
        self.assertEqual(kinds.count(("memcpy", "host_to_device")), 1)
        self.assertEqual(kinds.count(("memcpy", "device_to_host")), 4)

    def test_wrong_arguments_are_refused(self) -> None:
        result = self.start("./static", "errors", "image.cubin")
        self.assertIn("right\n", result.stderr)
        self.assertIn("cuArrayCreate_v2 is not provided", result.stderr)
        self.assertIn("nonsense", result.stderr)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["launches"], [])

    def test_libraries_clusters_and_cooperative_launches(self) -> None:
        kernels = [launch for launch in self.right("library") if launch["kind"] == "kernel"]
        self.assertEqual(self.names(kernels), ["cluster_ranks", "grid_total"])

    def test_tensor_maps(self) -> None:
        for scenario, linked in [("tensor_map", "static"), ("entry_point", "static"), ("entry_point", "shared")]:
            with self.subTest(scenario=scenario, linked=linked):
                launches = self.right(scenario, linked)
                self.assertEqual(self.names(launches)[:4], ["memcpy", "memcpy", "copy_box", "memcpy"])
                if scenario == "tensor_map":
                    self.assertEqual(self.names(launches)[4:], ["memcpy", "copy_box_by_own_map", "memcpy"])

    def test_textures(self) -> None:
        for linked in ["static", "shared"]:
            with self.subTest(linked=linked):
                result = self.start(f"./{linked}", "textures", "image.cubin")
                self.assertIn("right\n", result.stderr)
                launches = [launch for launch in self.launches(result, 3) if launch["kind"] == "kernel"]
                self.assertEqual(set(self.names(launches)), {"read_texels", "read_layers"})
                self.assertIn("reach beyond the allocations", launches[-1]["error"])
                self.assertEqual({launch["error"] for launch in launches[:-1]}, {""})

    def test_the_driver_is_found_by_its_name(self) -> None:
        self.assertEqual(self.names(self.right("opened")), ADDITION)
        # A program that is not linked with it; 1: it launches nothing to predict.
        result = self.start("./opens")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["exit_code"], 0, result.stderr)

    def test_what_libraries_ask_before_they_launch(self) -> None:
        for linked in ["static", "shared"]:
            with self.subTest(linked):
                result = self.start(f"./asks_{linked}")
                self.assertIn("right\n", result.stderr)
                self.assertIn("cudaStreamBeginCapture is not provided", result.stderr)
                self.assertEqual(self.names(self.launches(result, 0)), ["kernel"])

    def test_a_fault_keeps_the_rows_before_it(self) -> None:
        result = self.start("./static", "fault", "image.cubin")
        self.assertIn("right\n", result.stderr)
        launches = self.launches(result, 3)
        self.assertEqual(self.names(launches), [*ADDITION, "outside"])
        self.assertIn("out-of-bounds write of 4 bytes", launches[-1]["error"])
        self.assertEqual([launch["error"] for launch in launches[:-1]], [""] * 4)

    def test_crashes_and_early_exits_keep_the_rows(self) -> None:
        for scenario, code, ending in [("crash", 134, "signal 6"), ("early", 7, "exited with code 7")]:
            with self.subTest(scenario=scenario):
                result = self.start("./static", scenario, "image.cubin")
                self.assertEqual(self.names(self.launches(result, 3)), ADDITION)
                self.assertIn(ending, result.stderr)
                self.assertEqual(json.loads(result.stdout)["exit_code"], code)

    def test_an_endless_loop_is_ended(self) -> None:
        result = self.start("./static", "loop", "image.cubin", WARPTIME_WARP_LIMIT="1000000")
        self.assertIn("right\n", result.stderr)
        launches = self.launches(result, 3)
        self.assertEqual(self.names(launches), [*ADDITION, "memset", "endless"])
        self.assertIn("every warp waits", launches[-1]["error"])

    def test_a_sampled_launch_says_which_buffers_are_incomplete(self) -> None:
        result = self.start("./static", "add", "image.cubin", WARPTIME_BUDGET="1")
        partly = [launch for launch in json.loads(result.stdout)["launches"] if 0 < launch["coverage"] < 1]
        self.assertTrue(partly, result.stdout)
        self.assertRegex(result.stderr, r"a part of the grid was run, .* incomplete: .*argument 3 \(4000 bytes\)")

    def test_children_report_too(self) -> None:
        self.assertEqual(self.names(self.right("children")), ADDITION * 3)

    def test_only_kernels_that_are_asked_for(self) -> None:
        result = self.start("./static", "modules", "image.cubin", options=("--kernel", "^(mixed|reverse)$"))
        self.assertEqual(self.names(self.launches(result, 0)), ["mixed", "reverse"])
        result = self.start("./static", "modules", "image.cubin", options=("--launches", "3"))
        self.assertEqual(self.names(self.launches(result, 0)), ["add", "add", "mixed"])

    def test_descriptions_predict_what_the_launches_took(self) -> None:
        """By the number of the launch, also where copies stand between kernels."""
        result = self.start("./static", "modules", "image.cubin", options=("--descriptions", "written/here"))
        launches = self.launches(result, 0)
        files = sorted((self.folder / "written/here").iterdir())
        kernels = [launch for launch in launches if launch["kind"] == "kernel"]
        self.assertEqual([file.name for file in files], [f"{launch['launch']:03}.kernel" for launch in kernels])
        for file, launch in zip(files, kernels):
            answer = subprocess.run(
                [program(), "predict", "kernel", str(file), "--gpu", "h200-sxm", "--json"],
                capture_output=True, text=True, timeout=60, check=True,
            )  # fmt: skip
            self.assertEqual(json.loads(answer.stdout)["time_us"], launch["time_us"])
        for folder in ("", "static/inside"):
            result = self.start("./static", "modules", "image.cubin", options=("--descriptions", folder))
            self.assertEqual((result.returncode, result.stdout == ""), (2, False), result.stderr)
            self.assertIn(f"descriptions: got '{folder}', expected a folder", result.stderr)
            self.assertNotIn("right", result.stderr)

    def test_the_program_sees_the_gpu_with_its_changed_numbers(self) -> None:
        self.assertIn("132 sms\n", self.start("./sms").stderr)
        result = self.start("./sms", options=("--set", "gpu.sm.count=66"))
        self.assertIn("66 sms\n", result.stderr)
        self.assertEqual(self.names(self.launches(result, 0)), ["kernel"])

    def test_a_launch_whose_registers_do_not_fit_is_refused_as_on_a_gpu(self) -> None:
        result = self.start("./static", "registers", "image.cubin")
        self.assertIn("right\n", result.stderr)
        launches = self.launches(result, 3)
        self.assertEqual([launch["error"] != "" for launch in launches], [False, True, False, True])
        self.assertIn("registers", launches[1]["error"])

    def test_launches_may_end_at_a_read_of_the_clock(self) -> None:
        told = []
        for last in ("1", "2", "3"):
            result = self.start("./clock", WARPTIME_LAST_CLOCK_READ=last)
            self.assertEqual(self.names(self.launches(result, 0)), ["memset", "kernel", "memcpy"])
            told.append(result.stderr.split(" cycles")[0].split()[-1])
        # The clock counts reads. The store behind the second one is made only where the launch does not end there.
        self.assertEqual(told, ["0", "0", str(1 << 20)])


class Usage(unittest.TestCase):
    def test_a_program_that_cannot_be_started(self) -> None:
        self.fail_with_command(["./no-such-program"], "no-such-program")
        self.fail_with_command([], "--")

    def fail_with_command(self, command: list[str], part: str) -> None:
        result = subprocess.run(
            [program(), "run", "--", *command], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertIn(part, result.stderr)


if __name__ == "__main__":
    os.environ["WARPTIME_PROGRAM"] = os.path.abspath(sys.argv.pop(1))
    unittest.main()
