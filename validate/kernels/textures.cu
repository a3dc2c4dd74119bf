// Images and volumes read through the texture unit: resizing, turning and bending of images, filters, tables
// that data index, rays through a volume, back projection of a tomograph, layers that blend, and surfaces.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// An array of texels with the texture object that reads it.
template <class Texel>
class Image {
  public:
    Image(const std::vector<Texel>& texels, int width, int height, int depth, bool linear, bool wraps = false,
          bool to_write = false, bool layers = false) {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<Texel>();
        const unsigned flags = (to_write ? cudaArraySurfaceLoadStore : 0U) | (layers ? cudaArrayLayered : 0U);
        if (depth > 1) {
            const cudaExtent extent = make_cudaExtent(width, height, depth);
            require(cudaMalloc3DArray(&array_, &format, extent, flags), "cudaMalloc3DArray");
            cudaMemcpy3DParms copy{};
            copy.srcPtr =
                make_cudaPitchedPtr(const_cast<Texel*>(texels.data()), width * sizeof(Texel), width, height);
            copy.dstArray = array_;
            copy.extent = extent;
            copy.kind = cudaMemcpyHostToDevice;
            require(cudaMemcpy3D(&copy), "cudaMemcpy3D");
        } else {
            require(cudaMallocArray(&array_, &format, width, height, flags), "cudaMallocArray");
            require(cudaMemcpy2DToArray(array_, 0, 0, texels.data(), width * sizeof(Texel),
                                        width * sizeof(Texel), height, cudaMemcpyHostToDevice),
                    "cudaMemcpy2DToArray");
        }
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        cudaTextureDesc how{};
        how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        how.readMode = sizeof(Texel) <= 4 && !std::is_same_v<Texel, float> && !std::is_same_v<Texel, int>
                           ? cudaReadModeNormalizedFloat
                           : cudaReadModeElementType;
        how.normalizedCoords = wraps ? 1 : 0;
        for (auto& mode : how.addressMode) mode = wraps ? cudaAddressModeWrap : cudaAddressModeClamp;
        require(cudaCreateTextureObject(&texture_, &resource, &how, nullptr), "cudaCreateTextureObject");
        if (to_write) require(cudaCreateSurfaceObject(&surface_, &resource), "cudaCreateSurfaceObject");
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() {
        cudaDestroyTextureObject(texture_);
        if (surface_ != 0) cudaDestroySurfaceObject(surface_);
        cudaFreeArray(array_);
    }
    [[nodiscard]] cudaTextureObject_t texture() const { return texture_; }
    [[nodiscard]] cudaSurfaceObject_t surface() const { return surface_; }
    [[nodiscard]] cudaArray_t array() const { return array_; }

  private:
    cudaArray_t array_ = nullptr;
    cudaTextureObject_t texture_ = 0;
    cudaSurfaceObject_t surface_ = 0;
};

__global__ void resize(cudaTextureObject_t image, float* out, int width, int height, float scale) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[static_cast<std::size_t>(y) * width + x] =
            tex2D<float>(image, (x + 0.5F) * scale, (y + 0.5F) * scale);
}

__global__ void turn_colours(cudaTextureObject_t image, uchar4* out, int width, int height, float cosine,
                             float sine) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float u = x - 0.5F * width, v = y - 0.5F * height;
    const float4 c =
        tex2D<float4>(image, cosine * u - sine * v + 0.5F * width, sine * u + cosine * v + 0.5F * height);
    out[static_cast<std::size_t>(y) * width + x] =
        make_uchar4(__float2uint_rn(c.x * 255.0F), __float2uint_rn(c.y * 255.0F),
                    __float2uint_rn(c.z * 255.0F), __float2uint_rn(c.w * 255.0F));
}

/// A filter of (2 reach + 1)^2 points, each read through the texture unit.
template <int reach>
__global__ void blur(cudaTextureObject_t image, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0F;
#pragma unroll
    for (int dy = -reach; dy <= reach; ++dy) {
#pragma unroll
        for (int dx = -reach; dx <= reach; ++dx) {
            sum += tex2D<float>(image, x + dx + 0.5F, y + dy + 0.5F) * (1.0F / (1 + dx * dx + dy * dy));
        }
    }
    out[static_cast<std::size_t>(y) * width + x] = sum;
}

/// Values of a table at places that data give.
template <class Texel>
__global__ void look_up(cudaTextureObject_t table, const int* places, Texel* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = tex1Dfetch<Texel>(table, places[i]);
}

/// Rays through a volume from front to back, until little light is left.
__global__ void march(cudaTextureObject_t volume, float* out, int width, int height, int size, float slant) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float px = (x + 0.5F) * size / width, py = (y + 0.5F) * size / height, pz = 0.0F;
    float light = 1.0F, sum = 0.0F;
    while (pz < size && light > 0.05F) {
        const float density = 0.02F * tex3D<float>(volume, px, py, pz);
        sum += light * density;
        light *= 1.0F - density;
        px += slant;
        py += 0.5F * slant;
        pz += 0.75F;
    }
    out[static_cast<std::size_t>(y) * width + x] = sum;
}

/// Each pixel gathers from all projections.
__global__ void back_project(cudaTextureObject_t projections, float* out, int size, int angles) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size || y >= size) return;
    const float u = x - 0.5F * size, v = y - 0.5F * size;
    float sum = 0.0F;
    for (int a = 0; a < angles; ++a) {
        float sine, cosine;
        __sincosf(3.14159265F * a / angles, &sine, &cosine);
        sum += tex2D<float>(projections, u * cosine + v * sine + 0.75F * size, a + 0.5F);
    }
    out[static_cast<std::size_t>(y) * size + x] = sum;
}

__global__ void bend(cudaTextureObject_t image, const float2* flow, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const std::size_t i = static_cast<std::size_t>(y) * width + x;
    const float2 by = flow[i];
    out[i] = tex2D<float>(image, (x + 0.5F + 8.0F * by.x) / width, (y + 0.5F + 8.0F * by.y) / height);
}

__global__ void blend(cudaTextureObject_t layers, float* out, int width, int height, int count) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0F;
    for (int layer = 0; layer < count; ++layer)
        sum = 0.5F * (sum + tex2DLayered<float>(layers, x + 0.5F, y + 0.5F, layer));
    out[static_cast<std::size_t>(y) * width + x] = sum;
}

/// One step of a diffusion from a surface to another.
__global__ void diffuse(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int left = max(x - 1, 0), right = min(x + 1, width - 1), up = max(y - 1, 0),
              down = min(y + 1, height - 1);
    const float centre = surf2Dread<float>(from, x * 4, y);
    const float around = surf2Dread<float>(from, left * 4, y) + surf2Dread<float>(from, right * 4, y) +
                         surf2Dread<float>(from, x * 4, up) + surf2Dread<float>(from, x * 4, down);
    surf2Dwrite(centre + 0.2F * (around - 4.0F * centre), to, x * 4, y);
}

void body() {
    const dim3 tile(16, 16);
    const auto tiles = [&](int width, int height) { return dim3((width + 15) / 16, (height + 15) / 16); };
    {
        constexpr int width = 4000, height = 3000;
        const auto texels = random_values<float>(std::size_t{width} * height, 1);
        const Image<float> image(texels, width, height, 1, true);
        for (const float scale : {0.5F, 1.0F, 2.5F}) {
            const int w = static_cast<int>(width / scale), h = static_cast<int>(height / scale);
            Array<float> out(static_cast<std::size_t>(w) * h);
            prepare();
            resize<<<tiles(w, h), tile>>>(image.texture(), out.data(), w, h, scale);
            finish("resize");
            output("resize", out);
        }
        const Image<float> plain(texels, width, height, 1, false);
        Array<float> out(std::size_t{width} * height);
        prepare();
        blur<1><<<tiles(width, height), tile>>>(plain.texture(), out.data(), width, height);
        finish("blur 3x3");
        output("blur 3x3", out);
        prepare();
        blur<3><<<tiles(width, height), tile>>>(plain.texture(), out.data(), width, height);
        finish("blur 7x7");
        const auto values = out.values();
        double expected = 0.0;
        for (int dy = -3; dy <= 3; ++dy)
            for (int dx = -3; dx <= 3; ++dx)
                expected +=
                    texels[static_cast<std::size_t>(100 + dy) * width + 200 + dx] / (1.0 + dx * dx + dy * dy);
        check(std::fabs(values[std::size_t{100} * width + 200] - expected) < 1e-4, "blur 7x7");
        output("blur 7x7", out);
    }
    {
        constexpr int width = 3840, height = 2160;
        std::vector<uchar4> texels(std::size_t{width} * height);
        for (std::size_t i = 0; i < texels.size(); ++i) {
            const unsigned bits = random_bits(2, i);
            texels[i] = make_uchar4(bits & 255U, bits >> 8 & 255U, bits >> 16 & 255U, bits >> 24);
        }
        const Image<uchar4> image(texels, width, height, 1, true);
        Array<uchar4> out(texels.size());
        for (const float angle : {0.1F, 1.4F}) {
            prepare();
            turn_colours<<<tiles(width, height), tile>>>(image.texture(), out.data(), width, height,
                                                         std::cos(angle), std::sin(angle));
            finish("turn");
        }
        const auto flow = random_values<float>(std::size_t{width} * height * 2, 3);
        Array<float2> by(std::size_t{width} * height);
        require(cudaMemcpy(by.data(), flow.data(), flow.size() * sizeof(float), cudaMemcpyHostToDevice),
                "flow");
        const Image<float> grey(random_values<float>(std::size_t{width} * height, 4), width, height, 1, true,
                                true);
        Array<float> bent(std::size_t{width} * height);
        prepare();
        bend<<<tiles(width, height), tile>>>(grey.texture(), by.data(), bent.data(), width, height);
        finish("bend");
        output("bend", bent);
    }
    for (const int entries : {4096, 4 << 20}) {
        const int count = 1 << 22;
        const auto places = random_values<unsigned>(count, 5);
        std::vector<int> at(count);
        for (int i = 0; i < count; ++i) at[i] = static_cast<int>(places[i] % entries);
        const Array<int> index(at);
        const auto numbers = random_values<float>(static_cast<std::size_t>(entries) * 4, 6);
        const Array<float> table(numbers);
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = table.data();
        cudaTextureDesc how{};
        cudaTextureObject_t texture = 0;
        resource.res.linear.desc = cudaCreateChannelDesc<float>();
        resource.res.linear.sizeInBytes = static_cast<std::size_t>(entries) * sizeof(float);
        require(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "texture of a table");
        Array<float> out(count);
        prepare();
        look_up<float><<<(count + 255) / 256, 256>>>(texture, index.data(), out.data(), count);
        finish("look up");
        const auto found = out.values();
        for (int i = 0; i < count; i += 997) check(found[i] == numbers[at[i]], "look up");
        output("look up", out);
        require(cudaDestroyTextureObject(texture), "destroy");
        resource.res.linear.desc = cudaCreateChannelDesc<float4>();
        resource.res.linear.sizeInBytes = static_cast<std::size_t>(entries) * sizeof(float4);
        require(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "texture of a table");
        Array<float4> wide(count);
        prepare();
        look_up<float4><<<1056, 256>>>(texture, index.data(), wide.data(), count);
        finish("look up four");
        const auto four = wide.values();
        for (int i = 0; i < count; i += 997)
            check(four[i].z == numbers[4 * static_cast<std::size_t>(at[i]) + 2], "look up four");
        require(cudaDestroyTextureObject(texture), "destroy");
    }
    {
        constexpr int size = 256;
        auto texels = random_values<float>(std::size_t{size} * size * size, 7);
        for (float& texel : texels) texel = std::fabs(texel);
        const Image<float> volume(texels, size, size, size, true);
        struct View {
            int width, height;
            float slant;
        };
        for (const auto& [width, height, slant] : {View{1024, 768, 0.0F}, View{640, 480, 0.4F}}) {
            Array<float> out(static_cast<std::size_t>(width) * height);
            prepare();
            march<<<tiles(width, height), tile>>>(volume.texture(), out.data(), width, height, size, slant);
            finish("march");
            output("march", out);
        }
    }
    {
        constexpr int size = 1024, angles = 180;
        const Image<float> projections(random_values<float>(std::size_t{size} * 3 / 2 * angles, 8),
                                       size * 3 / 2, angles, 1, true);
        Array<float> out(std::size_t{size} * size);
        prepare();
        back_project<<<tiles(size, size), tile>>>(projections.texture(), out.data(), size, angles);
        finish("back project");
        output("back project", out);
    }
    {
        constexpr int width = 1920, height = 1080, layers = 8;
        const Image<float> image(random_values<float>(std::size_t{width} * height * layers, 9), width, height,
                                 layers, false, false, false, true);
        Array<float> out(std::size_t{width} * height);
        prepare();
        blend<<<tiles(width, height), tile>>>(image.texture(), out.data(), width, height, layers);
        finish("blend");
        output("blend", out);
    }
    {
        constexpr int width = 2500, height = 2000;
        const auto texels = random_values<float>(std::size_t{width} * height, 10);
        const Image<float> from(texels, width, height, 1, false, false, true),
            to(texels, width, height, 1, false, false, true);
        prepare();
        diffuse<<<tiles(width, height), tile>>>(from.surface(), to.surface(), width, height);
        finish("diffuse");
        std::vector<float> after(texels.size());
        require(cudaMemcpy2DFromArray(after.data(), width * sizeof(float), to.array(), 0, 0,
                                      width * sizeof(float), height, cudaMemcpyDeviceToHost),
                "cudaMemcpy2DFromArray");
        const auto at = [&](int x, int y) { return texels[static_cast<std::size_t>(y) * width + x]; };
        const float expected =
            at(70, 50) + 0.2F * (at(69, 50) + at(71, 50) + at(70, 49) + at(70, 51) - 4.0F * at(70, 50));
        check(std::fabs(after[std::size_t{50} * width + 70] - expected) < 1e-5F, "diffuse");
        output("diffuse", after);
    }
}

int main() {
    return run(body);
}
