// SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only
/*
 * /dev/dri/renderD128 without a card: what is written to an open descriptor of it stands in that descriptor's
 * /proc/PID/fdinfo, behind the lines that are the kernel's own, as a card's driver would print it there. The test
 * machine's kernel has no DRM, so the node's number is free. GPL-2.0-only besides, since it is a part of the
 * kernel while it is loaded.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

enum { MAJOR_DRM = 226, FIRST_RENDER = 128, KEYS_MAX = 16384 };

struct keys {
	struct mutex lock;
	size_t size;
	char text[KEYS_MAX];
};

static struct class *nodes;

static int keys_open(struct inode *inode, struct file *file)
{
	struct keys *keys = kvzalloc(sizeof(*keys), GFP_KERNEL);

	if (!keys)
		return -ENOMEM;
	mutex_init(&keys->lock);
	file->private_data = keys;
	return 0;
}

static int keys_release(struct inode *inode, struct file *file)
{
	kvfree(file->private_data);
	return 0;
}

/* The whole text in one write; the next one replaces it. */
static ssize_t keys_write(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	struct keys *keys = file->private_data;
	ssize_t result = count;

	if (count > KEYS_MAX)
		return -EFBIG;
	mutex_lock(&keys->lock);
	keys->size = 0;
	if (copy_from_user(keys->text, from, count))
		result = -EFAULT;
	else
		keys->size = count;
	mutex_unlock(&keys->lock);
	return result;
}

static void keys_show_fdinfo(struct seq_file *out, struct file *file)
{
	struct keys *keys = file->private_data;

	mutex_lock(&keys->lock);
	seq_write(out, keys->text, keys->size);
	mutex_unlock(&keys->lock);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = keys_open,
	.release = keys_release,
	.write = keys_write,
	.show_fdinfo = keys_show_fdinfo,
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
static char *name_node(const struct device *device, umode_t *mode)
#else
static char *name_node(struct device *device, umode_t *mode)
#endif
{
	if (mode)
		*mode = 0666;
	return kasprintf(GFP_KERNEL, "dri/%s", dev_name(device));
}

static int __init keys_init(void)
{
	struct device *device;
	int result = __register_chrdev(MAJOR_DRM, FIRST_RENDER, 1, "drmkeys", &operations);

	if (result < 0)
		return result;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	nodes = class_create("drmkeys");
#else
	nodes = class_create(THIS_MODULE, "drmkeys");
#endif
	if (IS_ERR(nodes)) {
		__unregister_chrdev(MAJOR_DRM, FIRST_RENDER, 1, "drmkeys");
		return PTR_ERR(nodes);
	}
	nodes->devnode = name_node;
	device = device_create(nodes, NULL, MKDEV(MAJOR_DRM, FIRST_RENDER), NULL, "renderD%d", FIRST_RENDER);
	if (IS_ERR(device)) {
		class_destroy(nodes);
		__unregister_chrdev(MAJOR_DRM, FIRST_RENDER, 1, "drmkeys");
		return PTR_ERR(device);
	}
	return 0;
}

static void __exit keys_exit(void)
{
	device_destroy(nodes, MKDEV(MAJOR_DRM, FIRST_RENDER));
	class_destroy(nodes);
	__unregister_chrdev(MAJOR_DRM, FIRST_RENDER, 1, "drmkeys");
}

module_init(keys_init);
module_exit(keys_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("fdinfo of a card that is not there");
