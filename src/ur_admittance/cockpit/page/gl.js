// Draws a list of things with WebGL 2: light from the sky and from a sun that casts shadows.
import { IDENTITY, Vector, lookAt, multiply, orthographic } from "./maths.js";

const SUN = new Vector(1.2, -1.6, 3), MAP = 1024, REACH = 1.5; // where it stands, points of its shadow map, and m around its aim

const VERTEX = `#version 300 es
uniform mat4 camera, model, sun;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
out vec3 place, upright, shade;
void main() {
  vec4 world = model * vec4(position, 1.0);
  place = world.xyz;
  upright = mat3(model) * normal;
  shade = (sun * world).xyz * 0.5 + 0.5;
  gl_Position = camera * world;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
uniform vec3 colour, eye, towardsSun;
uniform float alpha, lit, fade;
uniform bool shadows;
uniform sampler2DShadow map;
in vec3 place, upright, shade;
out vec4 pixel;

float sunlight(float slant) {
  if (!shadows || any(lessThan(shade, vec3(0.0))) || any(greaterThan(shade, vec3(1.0)))) return 1.0;
  float sum = 0.0, depth = shade.z - mix(0.004, 0.0012, slant);
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++) sum += texture(map, vec3(shade.xy + vec2(i, j) / ${MAP}.0, depth));
  return sum / 9.0;
}

void main() {
  vec3 shown = colour;
  if (lit > 0.0) {
    vec3 n = normalize(upright), half_way = normalize(towardsSun + normalize(eye - place));
    float slant = max(dot(n, towardsSun), 0.0), sun = sunlight(slant);
    vec3 light = mix(vec3(0.26, 0.28, 0.31), vec3(0.50, 0.51, 0.53), 0.5 + 0.5 * n.z) + 0.58 * slant * sun;
    shown = colour * light + 0.10 * sun * pow(max(dot(n, half_way), 0.0), 40.0);
  } else if (lit < 0.0) shown = colour * mix(0.66, 1.0, sunlight(1.0));
  float near = fade > 0.0 ? 1.0 - smoothstep(0.3 * fade, fade, length(place.xy)) : 1.0;
  pixel = vec4(pow(shown, vec3(1.0 / 2.2)), alpha * near);
}`;

const DEPTH_ONLY = `#version 300 es
void main() {}`;

// A colour as light adds up, from "#rrggbb".
export const colour = (hex) => [1, 3, 5].map((i) => (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2);

// One thing to draw. `lit`: 1 by the light, 0 always as its colour says, -1 so too, but shadows fall on it.
// `behind` moves it back a little where it lies in the same place as another; `above`: nothing hides it; `fade` [m]
// lets it end softly.
export const thing = (mesh, given = {}) => ({
  mesh, matrix: IDENTITY, colour: [1, 1, 1], alpha: 1, lit: 1, casts: false, behind: 0, above: false, fade: 0, visible: true, ...given,
});

export class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: false }); // null where there is none: nothing is drawn then
    this.shadows = true;
    this.#start();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.#start());
  }

  #start() {
    const gl = this.gl;
    if (!gl) return;
    this.sent = new WeakMap(); // meshes that are on the graphics card
    this.fence = null;
    this.light = this.#program(VERTEX, FRAGMENT);
    this.dark = this.#program(VERTEX, DEPTH_ONLY);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, MAP, MAP);
    for (const [name, value] of [["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"], ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"], ["COMPARE_MODE", "COMPARE_REF_TO_TEXTURE"]])
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], gl[value]);
    this.map = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.map);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  #program(...sources) {
    const gl = this.gl, program = gl.createProgram();
    sources.forEach((source, i) => {
      const shader = gl.createShader(i ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    const at = {};
    for (const name of ["camera", "model", "sun", "colour", "eye", "towardsSun", "alpha", "lit", "fade", "shadows"])
      at[name] = gl.getUniformLocation(program, name);
    return { program, at };
  }

  // Whether the last picture is still being drawn.
  busy() {
    const gl = this.gl;
    if (!gl || !this.fence) return false;
    if (gl.clientWaitSync(this.fence, 0, 0) === gl.TIMEOUT_EXPIRED) return true;
    gl.deleteSync(this.fence);
    this.fence = null;
    return false;
  }

  size(wide, high, ratio) {
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(high * ratio);
  }

  draw(things, camera, sky) {
    const gl = this.gl;
    if (!gl || gl.isContextLost()) return;
    const seen = things.filter((each) => each.visible);
    const aim = new Vector(0.2, 0, 0.3), sun = multiply(orthographic(REACH, 7), lookAt(aim.plus(SUN), aim));
    if (this.shadows) this.#shadows(seen, sun);
    const { program, at } = this.light;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...sky.map((v) => v ** (1 / 2.2)), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(program);
    gl.uniformMatrix4fv(at.camera, false, camera.matrix);
    gl.uniformMatrix4fv(at.sun, false, sun);
    gl.uniform3fv(at.eye, camera.position.toArray());
    gl.uniform3fv(at.towardsSun, SUN.unit().toArray());
    gl.uniform1i(at.shadows, this.shadows);
    const clear = (each) => each.alpha < 1 || each.fade > 0;
    for (const each of seen) if (!clear(each) && !each.above) this.#one(each, at);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    for (const each of seen) if (clear(each)) this.#one(each, at);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    for (const each of seen) if (each.above) this.#one(each, at);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  #shadows(seen, sun) {
    const gl = this.gl, { program, at } = this.dark;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.map);
    gl.viewport(0, 0, MAP, MAP);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(program);
    gl.uniformMatrix4fv(at.camera, false, sun);
    for (const each of seen) if (each.casts) this.#one(each, at);
  }

  #one(each, at) {
    const gl = this.gl, { mesh } = each;
    gl.uniformMatrix4fv(at.model, false, each.matrix);
    gl.uniform3fv(at.colour, each.colour);
    gl.uniform1f(at.alpha, each.alpha);
    gl.uniform1f(at.lit, each.lit);
    gl.uniform1f(at.fade, each.fade);
    gl.polygonOffset(each.behind, 8 * each.behind);
    gl.bindVertexArray(this.#send(mesh));
    if (mesh.index) gl.drawElements(gl.TRIANGLES, mesh.index.length, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(mesh.kind === "strip" ? gl.LINE_STRIP : gl.LINES, 0, mesh.count);
  }

  // Brings a mesh to the graphics card, and again when it says that it has changed.
  #send(mesh) {
    const gl = this.gl, known = this.sent.get(mesh);
    if (known && mesh.changed) {
      gl.bindBuffer(gl.ARRAY_BUFFER, known.position);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, mesh.position);
      mesh.changed = false;
    }
    if (known) return known.array;
    const array = gl.createVertexArray(), position = gl.createBuffer();
    gl.bindVertexArray(array);
    this.#attribute(0, position, mesh.position);
    if (mesh.normal) this.#attribute(1, gl.createBuffer(), mesh.normal);
    if (mesh.index) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.index, gl.STATIC_DRAW);
    }
    this.sent.set(mesh, { array, position });
    return array;
  }

  #attribute(place, buffer, data) {
    const gl = this.gl, bytes = data instanceof Int8Array;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 3, bytes ? gl.BYTE : gl.FLOAT, bytes, 0, 0);
  }
}
