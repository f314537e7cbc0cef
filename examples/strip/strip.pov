// SPDX-License-Identifier: GPL-3.0-or-later
// A lighthouse by night: its beam goes round once and the moon comes up while clock runs from 0 to 1.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 4 }

camera { location <0, 3, -14> look_at <0, 3.2, 0> right x*image_width/image_height angle 55 }

sky_sphere { pigment { gradient y color_map { [0 rgb <.10, .08, .20>] [.5 rgb <.01, .01, .06>] } } }

// The moon and its light.
#declare Moon = <-30 + 14*clock, 3 + 16*clock, 60>;
sphere { Moon, 3.2 pigment { rgb <1, .95, .8> } finish { emission .9 diffuse 0 } no_shadow }
light_source { Moon - <0, 0, 8> rgb <.35, .38, .5> }
light_source { <-20, 14, -30> rgb <.12, .12, .18> shadowless }

// The sea, its waves moving on.
plane { y, 0
	pigment { rgb <.01, .03, .07> }
	finish { reflection .45 specular .4 roughness .02 }
	normal { bumps .35 scale <1.6, 1, .5> translate <2*clock, 0, -3*clock> }
}

// The rock, the tower in red and white, the lamp.
sphere { 0, 1 scale <4.2, .9, 3> translate 2*z pigment { rgb <.12, .11, .10> } normal { granite .4 } }
cone { <0, .5, 2>, .95, <0, 5, 2>, .6
	pigment { gradient y color_map { [.5 rgb <.9, .9, .9>] [.5 rgb <.75, .08, .06>] } scale 1.5 }
	finish { diffuse .8 }
}
cylinder { <0, 5, 2>, <0, 5.12, 2>, .85 pigment { rgb .15 } }
cylinder { <0, 5.12, 2>, <0, 5.8, 2>, .42 pigment { rgb <1, .9, .5> } finish { emission .8 } no_shadow }
cone { <0, 5.8, 2>, .6, <0, 6.4, 2>, 0 pigment { rgb <.5, .05, .05> } }

// The beam, twice, back to back, fading out.
#declare Ray = cone { <0, 0, 0>, .15, <16, 0, 0>, 1.6 open
	pigment { gradient x color_map { [0 rgbt <1, .93, .6, .6>] [1 rgbt <1, .93, .6, 1>] } scale 16.1 }
	finish { emission .7 diffuse 0 } no_shadow no_reflection
}
union { object { Ray } object { Ray rotate 180*y } rotate (360*clock + 15)*y translate <0, 5.45, 2> }
light_source { <0, 5.45, 2> rgb <1.6, 1.4, .8> fade_distance 4 fade_power 2
	spotlight point_at <cos(2*pi*clock), 5.2, 2 - sin(2*pi*clock)> radius 12 falloff 24 }
