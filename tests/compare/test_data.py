"""The sources of images, the file they are decoded into, and the batches made of them."""

from __future__ import annotations

import hashlib
import os
import pickle
import resource
import socket
import tarfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torchvision.datasets import CIFAR10

from compare.data import Batches, Images, download, load, prepare, synthetic
from compare.data.batches import MEAN, STD, draw
from compare.errors import UserError

CPU = torch.device("cpu")
CLASSES = ("cat", "dog", "emu")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tests run side by side, and more threads than cores make small operations many times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def pixels(seed: int, size: tuple[int, ...] = (32, 32, 3)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An image folder: two training images and one test image of each class, as PNG, which loses nothing."""
    root = tmp_path / "animals"
    for number, name in enumerate(CLASSES):
        for split, count in (("train", 2), ("test", 1)):
            (root / split / name).mkdir(parents=True)
            for index in range(count):
                seed = number * 100 + index + (50 if split == "test" else 0)
                Image.fromarray(pixels(seed)).save(root / split / name / f"{index}.png")
    return root


@pytest.fixture
def cifar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files in CIFAR-10's own format, four images each, whose checksums are declared to be right."""
    home = tmp_path / "downloads" / "cifar-10-batches-py"
    home.mkdir(parents=True)
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    sums = {}
    for number, name in enumerate(names):
        content = {"data": pixels(number, (4, 3072)), "labels": [number, 1, 2, 9], "batch_label": name}
        (home / name).write_bytes(pickle.dumps(content, protocol=2))
        sums[name] = hashlib.md5((home / name).read_bytes()).hexdigest()
    meta = pickle.dumps({"label_names": [f"kind {index}" for index in range(10)]}, protocol=2)
    (home / "batches.meta").write_bytes(meta)
    monkeypatch.setattr(CIFAR10, "train_list", [[name, sums[name]] for name in names[:5]])
    monkeypatch.setattr(CIFAR10, "test_list", [[names[5], sums[names[5]]]])
    monkeypatch.setattr(CIFAR10, "meta", {**CIFAR10.meta, "md5": hashlib.md5(meta).hexdigest()})
    return home.parent


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def sentence(call: Callable[[], object]) -> str:
    """What the user reads: exactly one sentence on one line."""
    with pytest.raises(UserError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".") and text.count(". ") == 0
    return text


# ------------------------------------------------------------------ image folders


def test_an_image_folder_is_read_in_the_order_of_its_names(folder: Path, cache: Path) -> None:
    images = load(str(folder), cache)
    assert images.classes == CLASSES
    assert images.train_images.dtype == torch.uint8
    assert images.train_images.shape == (6, 3, 32, 32)
    assert images.train_labels.dtype == torch.int64
    assert images.train_labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert images.test_labels.tolist() == [0, 1, 2]
    for index, seed in enumerate((0, 1, 100, 101, 200, 201)):
        assert np.array_equal(images.train_images[index].permute(1, 2, 0).numpy(), pixels(seed))
    for index, seed in enumerate((50, 150, 250)):
        assert np.array_equal(images.test_images[index].permute(1, 2, 0).numpy(), pixels(seed))
    assert "animals (6 training, 3 test, 3 classes, SHA-256 " in images.description


def test_many_images_keep_their_order_and_report_their_progress(tmp_path: Path, cache: Path) -> None:
    """More images than one thread takes at a time."""
    for split, count in (("train", 600), ("test", 3)):
        (tmp_path / "grey" / split / "only").mkdir(parents=True)
        for index in range(count):
            shade = Image.new("RGB", (32, 32), (index % 251, index // 251, 7))
            shade.save(tmp_path / "grey" / split / "only" / f"{index:04}.png")
    seen: list[tuple[int, int]] = []
    prepare(str(tmp_path / "grey"), cache, progress=lambda done, total: seen.append((done, total)))
    images = load(str(tmp_path / "grey"), cache)
    assert images.train_images[:, 0, 5, 5].tolist() == [index % 251 for index in range(600)]
    assert images.train_images[:, 1, 5, 5].tolist() == [index // 251 for index in range(600)]
    assert seen == sorted(seen)
    assert seen[-1] == (603, 603)


def test_other_files_and_hidden_ones_are_left_alone(folder: Path, cache: Path) -> None:
    (folder / "README.txt").write_text("about")
    (folder / "train" / "labels.csv").write_text("a,b")
    (folder / "train" / ".cache").mkdir()
    (folder / "train" / "cat" / "notes.txt").write_text("a cat")
    (folder / "train" / "cat" / "._0.png").write_text("what a Mac leaves")
    assert len(load(str(folder), cache).train_labels) == 6


def test_jpegs_are_read(folder: Path, cache: Path) -> None:
    flat = np.full((32, 32, 3), (200, 30, 90), dtype=np.uint8)
    Image.fromarray(flat).save(folder / "test" / "dog" / "1.JPEG", quality=95)
    images = load(str(folder), cache)
    assert images.test_labels.tolist() == [0, 1, 1, 2]
    difference = images.test_images[2].permute(1, 2, 0).int() - torch.from_numpy(flat).int()
    assert difference.abs().max() <= 3


def empty_class(root: Path) -> str:
    (root / "train" / "dog" / "0.png").unlink()
    (root / "train" / "dog" / "1.png").unlink()
    return f"The class {root / 'train' / 'dog'} is empty"


def class_in_train_only(root: Path) -> str:
    (root / "test" / "emu" / "0.png").unlink()
    (root / "test" / "emu").rmdir()
    return f"The class emu is in {root / 'train'} but not in {root / 'test'}"


def class_in_test_only(root: Path) -> str:
    (root / "test" / "fox").mkdir()
    Image.fromarray(pixels(1)).save(root / "test" / "fox" / "0.png")
    return f"The class fox is in {root / 'test'} but not in {root / 'train'}"


def no_test_folder(root: Path) -> str:
    (root / "test").rename(root / "val")
    return f"{root} has a folder train but no folder test"


def no_train_folder(root: Path) -> str:
    (root / "train").rename(root / "training")
    return f"{root} has a folder test but no folder train"


def wrong_size(root: Path) -> str:
    Image.fromarray(pixels(1, (64, 48, 3))).save(root / "test" / "cat" / "1.png")
    return f"{root / 'test' / 'cat' / '1.png'} is 48x64 RGB"


def grey(root: Path) -> str:
    Image.fromarray(pixels(1, (32, 32))).save(root / "train" / "dog" / "0.png")
    return f"{root / 'train' / 'dog' / '0.png'} is 32x32 L"


def transparent(root: Path) -> str:
    Image.fromarray(pixels(1, (32, 32, 4))).save(root / "train" / "dog" / "0.png")
    return f"{root / 'train' / 'dog' / '0.png'} is 32x32 RGBA"


def no_image(root: Path) -> str:
    (root / "train" / "dog" / "1.png").write_text("not at all")
    return f"{root / 'train' / 'dog' / '1.png'} cannot be read as an image (no image Pillow knows)"


def cut_off(root: Path) -> str:
    file = root / "train" / "dog" / "1.png"
    file.write_bytes(file.read_bytes()[:-400])
    return f"{file} cannot be read as an image"


def zero_bytes(root: Path) -> str:
    (root / "train" / "dog" / "1.png").write_bytes(b"")
    return f"{root / 'train' / 'dog' / '1.png'} cannot be read as an image"


def image_in_no_class(root: Path) -> str:
    (root / "train" / "dog" / "1.png").rename(root / "train" / "1.png")
    return f"{root / 'train' / '1.png'} lies in no class"


def class_in_class(root: Path) -> str:
    (root / "train" / "dog" / "puppies").mkdir()
    return f"{root / 'train' / 'dog' / 'puppies'} is a folder inside a class"


def no_class(root: Path) -> str:
    for name in CLASSES:
        (root / "test" / name / "0.png").unlink()
        (root / "test" / name).rmdir()
    return f"{root / 'test'} holds no folder"


def nothing_known(root: Path) -> str:
    (root / "train").rename(root / "one")
    (root / "test").rename(root / "two")
    return f"{root} holds no data that is known"


@pytest.mark.parametrize(
    "damage",
    [
        empty_class,
        class_in_train_only,
        class_in_test_only,
        no_test_folder,
        no_train_folder,
        wrong_size,
        grey,
        transparent,
        no_image,
        cut_off,
        zero_bytes,
        image_in_no_class,
        class_in_class,
        no_class,
        nothing_known,
    ],
)
def test_a_wrong_image_folder_is_one_sentence_that_names_it(
    folder: Path, cache: Path, damage: Callable[[Path], str]
) -> None:
    expected = damage(folder)
    assert sentence(lambda: prepare(str(folder), cache)).startswith(expected)
    assert not cache.exists() or not list(cache.iterdir())


def test_of_several_bad_images_the_first_is_named(folder: Path, cache: Path) -> None:
    for name in ("train/emu/0.png", "train/cat/1.png", "test/cat/0.png"):
        (folder / name).write_text("bad")
    assert sentence(lambda: prepare(str(folder), cache)).startswith(str(folder / "train/cat/1.png"))


def test_a_folder_that_is_none(tmp_path: Path, cache: Path) -> None:
    assert "does not exist" in sentence(lambda: prepare(str(tmp_path / "nowhere"), cache))
    (tmp_path / "file").write_text("text")
    assert "is a file" in sentence(lambda: prepare(str(tmp_path / "file"), cache))
    assert "does not exist" in sentence(lambda: prepare(str(tmp_path / "file" / "below"), cache))
    (tmp_path / "empty").mkdir()
    assert "is empty" in sentence(lambda: prepare(str(tmp_path / "empty"), cache))
    assert "cannot be read" in sentence(lambda: prepare(str(tmp_path / ("long" * 200)), cache))


# ------------------------------------------------------------------ CIFAR-10's own files


@pytest.mark.parametrize("inside", [True, False])
def test_the_authors_own_files_are_read(cifar: Path, cache: Path, inside: bool) -> None:
    source = cifar / "cifar-10-batches-py"
    source = source.rename(cifar / "renamed") if inside else cifar
    images = load(str(source), cache)
    assert images.train_images.shape == (20, 3, 32, 32)
    assert images.train_labels.tolist() == [0, 1, 2, 9, 1, 1, 2, 9, 2, 1, 2, 9, 3, 1, 2, 9, 4, 1, 2, 9]
    assert images.test_labels.tolist() == [5, 1, 2, 9]
    assert images.classes == tuple(f"kind {index}" for index in range(10))
    # A row of the file is all red values, then all green, then all blue, each row by row.
    assert np.array_equal(images.train_images[4:8].numpy(), pixels(1, (4, 3072)).reshape(4, 3, 32, 32))
    assert np.array_equal(images.test_images.numpy(), pixels(5, (4, 3072)).reshape(4, 3, 32, 32))
    assert images.description.startswith("CIFAR-10, its own files (20 training, 4 test, 10 classes, SHA-256 ")


def test_an_incomplete_copy_is_one_sentence(cifar: Path, cache: Path) -> None:
    (cifar / "cifar-10-batches-py" / "data_batch_3").unlink()
    assert "is incomplete: data_batch_3 is missing" in sentence(lambda: prepare(str(cifar), cache))


@pytest.mark.parametrize("name", ["data_batch_2", "test_batch", "batches.meta"])
def test_a_damaged_copy_is_one_sentence(cifar: Path, cache: Path, name: str) -> None:
    file = cifar / "cifar-10-batches-py" / name
    content = bytearray(file.read_bytes())
    content[-40] ^= 1
    file.write_bytes(content)
    assert sentence(lambda: prepare(str(cifar), cache)).startswith(f"{file} is damaged")


def test_a_copy_is_held_against_the_checksums_of_the_real_one(
    cifar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the fixture's checksums its files are not CIFAR-10: nothing is unpickled before that is known."""
    monkeypatch.undo()

    def unpickle(*_: object, **__: object) -> None:
        raise AssertionError("unpickled")

    monkeypatch.setattr(pickle, "load", unpickle)
    assert "data_batch_1 is damaged" in sentence(lambda: prepare(str(cifar), cache))


@pytest.fixture
def server(cifar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A web server on this machine, from which torchvision is told to fetch the archive; the folder it serves."""
    served = tmp_path / "served"
    served.mkdir()
    with tarfile.open(served / CIFAR10.filename, "w:gz") as file:
        file.add(cifar / "cifar-10-batches-py", "cifar-10-batches-py")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(served))) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setattr(CIFAR10, "url", f"http://127.0.0.1:{http.server_port}/{CIFAR10.filename}")
        monkeypatch.setattr(CIFAR10, "tgz_md5", hashlib.md5((served / CIFAR10.filename).read_bytes()).hexdigest())
        yield served
        http.shutdown()
        thread.join()


def test_download_fetches_checks_and_unpacks(server: Path, tmp_path: Path, cache: Path) -> None:
    root = download(tmp_path / "fetched")
    assert load(str(root), cache).train_images.shape == (20, 3, 32, 32)
    (server / CIFAR10.filename).unlink()
    assert download(root) == root, "what is there is not fetched again"


def test_a_download_that_fails_says_what_to_do(server: Path, tmp_path: Path, cache: Path) -> None:
    archive = server / CIFAR10.filename
    content = archive.read_bytes()
    archive.write_bytes(content[:500])
    text = sentence(lambda: download(tmp_path / "fetched"))
    assert "corrupted" in text and "DATA=folder" in text
    archive.unlink()
    text = sentence(lambda: download(tmp_path / "fetched"))
    assert "404" in text and "DATA=folder" in text
    archive.write_bytes(content)
    root = download(tmp_path / "fetched")
    assert len(load(str(root), cache).train_labels) == 20, "what a failed download left is no hindrance"


def test_a_machine_without_a_network_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setattr(CIFAR10, "url", f"http://127.0.0.1:{taken.getsockname()[1]}/{CIFAR10.filename}")
        text = sentence(lambda: download(tmp_path / "fetched"))
    assert "refused" in text and "DATA=folder" in text
    assert socket.getdefaulttimeout() is None


# ------------------------------------------------------------------ the decoded file


def test_a_decoded_folder_is_not_decoded_again(folder: Path, cache: Path) -> None:
    calls: list[int] = []
    first = prepare(str(folder), cache, progress=lambda done, total: calls.append(done))
    assert first is not None
    before = first.stat()
    assert prepare(str(folder), cache, progress=lambda done, total: calls.append(done)) == first
    assert len(calls) == 1
    assert first.stat().st_mtime_ns == before.st_mtime_ns
    assert list(cache.iterdir()) == [first]


def test_the_file_itself_can_be_loaded_when_the_folder_is_gone(folder: Path, cache: Path) -> None:
    file = prepare(str(folder), cache)
    folder.rename(folder.with_name("moved"))
    assert load(str(folder), file).train_labels.tolist() == [0, 0, 1, 1, 2, 2]


def changed_image(root: Path) -> None:
    Image.fromarray(pixels(999)).save(root / "train" / "cat" / "0.png")


def touched_image(root: Path) -> None:
    os.utime(root / "train" / "cat" / "0.png", ns=(1, 1))


def more_images(root: Path) -> None:
    Image.fromarray(pixels(5)).save(root / "test" / "emu" / "9.png")


def renamed_image(root: Path) -> None:
    """No size and no time of a file changes: only the order does."""
    (root / "train" / "cat" / "0.png").rename(root / "train" / "cat" / "2.png")


def renamed_class(root: Path) -> None:
    """Nothing but the name of a class changes."""
    for split in ("train", "test"):
        (root / split / "cat").rename(root / split / "cow")


@pytest.mark.parametrize("change", [changed_image, touched_image, more_images, renamed_image, renamed_class])
def test_a_changed_folder_is_decoded_anew(folder: Path, cache: Path, change: Callable[[Path], None]) -> None:
    before = prepare(str(folder), cache)
    change(folder)
    assert prepare(str(folder), cache) != before


def test_equal_folders_in_two_places_have_two_files_of_equal_content(folder: Path, cache: Path) -> None:
    first = load(str(folder), cache)
    elsewhere = folder.parent / "elsewhere" / "animals"
    elsewhere.parent.mkdir()
    folder.rename(elsewhere)
    second = load(str(elsewhere), cache)
    assert len(list(cache.iterdir())) == 2
    assert first.description == second.description


def test_the_cache_is_where_xdg_says(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    file = prepare(str(folder))
    assert file is not None and file.parent == tmp_path / "xdg" / "apex2native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = prepare(str(folder))
    assert file is not None and file.parent == tmp_path / "home" / ".cache" / "apex2native"


def test_a_damaged_file_is_one_sentence(folder: Path, cache: Path) -> None:
    file = prepare(str(folder), cache)
    assert file is not None
    file.write_bytes(file.read_bytes()[:2000])
    assert f"{file} cannot be read: delete that file" in sentence(lambda: load(str(folder), cache))
    torch.save({"other": 1}, file)
    assert f"{file} cannot be read: delete that file" in sentence(lambda: load(str(folder), cache))


def test_a_cache_that_cannot_be_written_leaves_nothing(folder: Path, cache: Path, tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))  # the same to a writer as a full disk
    try:
        text = sentence(lambda: prepare(str(folder), cache))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert f"cannot be written to {cache}" in text and "XDG_CACHE_HOME" in text
    assert list(cache.iterdir()) == []
    (tmp_path / "file").write_text("no folder")
    assert "XDG_CACHE_HOME" in sentence(lambda: prepare(str(folder), tmp_path / "file"))


# ------------------------------------------------------------------ synthetic images


def test_synthetic_images_are_the_same_every_time_and_leave_no_file(cache: Path) -> None:
    assert prepare("synthetic", cache) is None
    first, second = load("synthetic", cache), load("synthetic", cache)
    assert not cache.exists()
    assert first.train_images.shape == (2048, 3, 32, 32)
    assert first.test_images.shape == (512, 3, 32, 32)
    assert first.train_images.dtype == torch.uint8
    assert torch.equal(first.train_images, second.train_images)
    assert torch.equal(first.test_images, second.test_images)
    # Made of integers alone, hence this digest on every machine.
    assert hashlib.sha256(first.train_images.numpy().tobytes()).hexdigest().startswith("0fbb32b936a76586")


def test_synthetic_sizes_and_classes() -> None:
    images = synthetic(train=40, test=20)
    assert torch.bincount(images.train_labels).tolist() == [4] * 10
    assert torch.bincount(images.test_labels).tolist() == [2] * 10
    assert len(images.classes) == 10
    assert len(load("synthetic:40,20").train_labels) == 40
    for wrong in ("synthetic:", "synthetic:40", "synthetic:0,5", "synthetic:a,b"):
        assert "names no data" in sentence(lambda wrong=wrong: load(wrong))


def test_a_small_network_learns_the_synthetic_images() -> None:
    batches = Batches(synthetic(), 64, 0, CPU)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 16, 4, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for images, labels in batches.epoch(1):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    right = sum(int((model(images).argmax(1) == labels).sum()) for images, labels in batches.test(200))
    assert right / batches.test_samples > 0.5, "chance is 0.1"


# ------------------------------------------------------------------ batches


@pytest.fixture(scope="module")
def some() -> Images:
    """Images of noise that differ everywhere, 50 to train and 11 to test, each with a label of its own."""
    generator = torch.Generator().manual_seed(3)
    train = torch.randint(0, 256, (50, 3, 32, 32), dtype=torch.uint8, generator=generator)
    test = torch.randint(0, 256, (11, 3, 32, 32), dtype=torch.uint8, generator=generator)
    classes = tuple(str(index) for index in range(50))
    return Images(train, torch.arange(50), test, torch.arange(11), classes, "noise")


def plain(image: Tensor, top: int, left: int, flip: int) -> np.ndarray:
    """One image, augmented and normalised pixel by pixel."""
    result = np.zeros((3, 32, 32))
    for channel in range(3):
        for row in range(32):
            for column in range(32):
                source_row = top + row - 4
                source_column = left + (31 - column if flip else column) - 4
                inside = 0 <= source_row < 32 and 0 <= source_column < 32
                value = int(image[channel, source_row, source_column]) if inside else 0
                result[channel, row, column] = (value / 255 - MEAN[channel]) / STD[channel]
    return result


def whole(batches: Batches, epoch: int = 1) -> tuple[Tensor, Tensor]:
    images, labels = zip(*batches.epoch(epoch), strict=True)
    return torch.cat(images), torch.cat(labels)


def test_batches_are_what_a_plain_loop_over_the_samples_makes(some: Images) -> None:
    batches = Batches(some, 8, 5, CPU)
    drawn = draw(50, 5, 2)
    assert batches.steps_per_epoch == 6
    place = 0
    for images, labels in batches.epoch(2):
        assert images.dtype == torch.float32 and images.shape == (8, 3, 32, 32) and images.is_contiguous()
        for image, label in zip(images, labels, strict=True):
            index = int(drawn.order[place])
            assert int(label) == index
            expected = plain(
                some.train_images[index], int(drawn.top[place]), int(drawn.left[place]), int(drawn.flip[place])
            )
            np.testing.assert_allclose(image.numpy(), expected, rtol=0, atol=2e-6)
            place += 1
    assert place == 48, "the last batch, which would not be full, is left out"


def test_every_crop_and_both_mirrorings_are_drawn() -> None:
    drawn = draw(20000, 0, 1)
    assert sorted(drawn.order.tolist()) == list(range(20000))
    for offsets in (drawn.top, drawn.left):
        counts = torch.bincount(offsets)
        assert len(counts) == 9
        assert counts.min() > 2000 and counts.max() < 2450  # 2222 on average, standard deviation 44
    assert 9700 < int(drawn.flip.sum()) < 10300  # standard deviation 71
    assert abs(float(torch.corrcoef(torch.stack([drawn.top.double(), drawn.left.double()]))[0, 1])) < 0.04


def test_equal_seeds_give_equal_batches_and_others_do_not(some: Images) -> None:
    first, labels = whole(Batches(some, 10, 1, CPU))
    again, same = whole(Batches(some, 10, 1, CPU))
    assert torch.equal(first, again) and torch.equal(labels, same)
    batches = Batches(some, 10, 1, CPU)
    second, later = whole(batches, 2)
    assert not torch.equal(labels, later) and not torch.equal(first, second)
    assert torch.equal(whole(batches)[0], first), "an epoch does not depend on those before it"
    assert not torch.equal(whole(Batches(some, 10, 2, CPU))[1], labels)
    assert not torch.equal(draw(50, 0, 1).order, draw(50, 1, 0).order)


def test_the_global_generator_is_neither_used_nor_moved(some: Images) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = whole(Batches(some, 10, 1, CPU))[0]
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert torch.equal(whole(Batches(some, 10, 1, CPU))[0], first)


def test_the_order_digest_stands_for_seed_and_data_alone(some: Images) -> None:
    digest = Batches(some, 10, 1, CPU).order_digest()
    assert len(digest) == 64
    assert Batches(some, 5, 1, CPU, rank=1, world=2, steps=3).order_digest() == digest
    assert Batches(some, 10, 2, CPU).order_digest() != digest


@pytest.mark.parametrize("world", [2, 3])
def test_the_shards_of_a_step_interleave_to_the_batch_of_one_process(some: Images, world: int) -> None:
    one = list(Batches(some, 4 * world, 7, CPU).epoch(3))
    shards = [list(Batches(some, 4, 7, CPU, rank=rank, world=world).epoch(3)) for rank in range(world)]
    assert all(len(shard) == len(one) == 50 // (4 * world) for shard in shards)
    for step, (images, labels) in enumerate(one):
        for rank, shard in enumerate(shards):
            assert torch.equal(shard[step][0], images[rank::world])
            assert torch.equal(shard[step][1], labels[rank::world])


def test_an_epoch_can_be_cut_short(some: Images) -> None:
    short = Batches(some, 10, 1, CPU, steps=2)
    assert short.steps_per_epoch == 2
    assert torch.equal(whole(short)[0], whole(Batches(some, 10, 1, CPU))[0][:20])
    assert Batches(some, 10, 1, CPU, steps=99).steps_per_epoch == 5


def test_a_batch_larger_than_the_data_is_one_sentence(some: Images) -> None:
    assert Batches(some, 50, 1, CPU).steps_per_epoch == 1
    assert "fewer than the 51 of one batch" in sentence(lambda: Batches(some, 51, 1, CPU))
    assert "fewer than the 52 of one batch" in sentence(lambda: Batches(some, 26, 1, CPU, world=2))


@pytest.mark.parametrize("batch", [4, 11, 100])
def test_test_images_come_whole_in_order_and_unaugmented(some: Images, batch: int) -> None:
    images, labels = zip(*Batches(some, 10, 1, CPU).test(batch), strict=True)
    assert len(images[0]) == min(batch, 11)
    assert torch.cat(labels).tolist() == list(range(11))
    for image, original in zip(torch.cat(images), some.test_images, strict=True):
        np.testing.assert_allclose(image.numpy(), plain(original, 4, 4, 0), rtol=0, atol=2e-6)


def test_batches_come_from_a_mapped_file_too(folder: Path, cache: Path) -> None:
    file = prepare(str(folder), cache)
    mapped = load(str(folder), file)
    batches = Batches(mapped, 2, 0, CPU)
    assert sorted(whole(batches)[1].tolist()) == [0, 0, 1, 1, 2, 2]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_batches_on_a_gpu_are_those_of_the_cpu(some: Images) -> None:
    images, labels = whole(Batches(some, 8, 5, torch.device("cuda")))
    expected, expected_labels = whole(Batches(some, 8, 5, CPU))
    assert images.is_cuda and labels.is_cuda
    assert torch.equal(images.cpu(), expected)
    assert torch.equal(labels.cpu(), expected_labels)
