# SPDX-License-Identifier: GPL-3.0-or-later
# picture.py FILE.png [X,Y]…: its size and how many colours it has, then the colour of each point, as #rrggbb. Reads what
# Chromium writes: 8 bits a channel, RGB or RGBA, not interlaced.
import struct
import sys
import zlib


def chunks(data):
	at = 8
	while at < len(data):
		size, kind = struct.unpack(">I4s", data[at:at + 8])
		yield kind, data[at + 8:at + 8 + size]
		at += size + 12


def paeth(left, up, corner):
	guess = left + up - corner
	return min((left, up, corner), key=lambda near: abs(guess - near))


def unfilter(kind, line, above, step):
	for i in range(len(line)):
		left = line[i - step] if i >= step else 0
		corner = above[i - step] if i >= step else 0
		line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]) & 255
	return line


def rows(path):
	data = open(path, "rb").read()
	assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
	parts = list(chunks(data))
	width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
	assert depth == 8 and kind in (2, 6) and not interlaced, "another kind of PNG"
	step = 3 if kind == 2 else 4
	raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
	above, size = bytearray(width * step), width * step + 1
	for y in range(height):
		above = unfilter(raw[y * size], bytearray(raw[y * size + 1:(y + 1) * size]), above, step)
		yield [bytes(above[x * step:x * step + 3]) for x in range(width)]


picture = list(rows(sys.argv[1]))
print(f"{len(picture[0])}x{len(picture)}", len({point for row in picture for point in row}))
for word in sys.argv[2:]:
	x, y = (round(float(number)) for number in word.split(","))
	print("#" + picture[y][x].hex())
